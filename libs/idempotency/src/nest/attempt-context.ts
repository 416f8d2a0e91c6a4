import { AsyncLocalStorage } from 'node:async_hooks';

import type { EntityManager } from 'typeorm';

import type { Operation } from '../core/operation.js';
import type { IdempotentOperation } from './idempotent-operation.js';

/** What the code that an attempt runs can know of it. */
export interface AttemptContext {
  /** Who runs it, where that may run it more than once. */
  readonly owner?: object;
  /** Null for a request without a key, where none is required. */
  readonly operation: Operation | null;
  /** The manager of the work's transaction; null while none is open. */
  readonly manager: EntityManager | null;
  /** What the handler can do with its operation; null for a request without a key. */
  readonly handle: IdempotentOperation | null;
  /** It has ended: code that still belongs to it has outlived it. */
  readonly isOver: boolean;
  /** Aborted when the claim is lost. */
  readonly signal: AbortSignal;
  afterCommit(callback: () => unknown): void;
  /** Called by the handler's wrapper, before the handler's first line. Throws where it may not be entered any more. */
  enter(wrapper: symbol): void;
}

const storage = new AsyncLocalStorage<AttemptContext>();

/** Runs code inside an attempt; whatever it starts, now or later, belongs to the attempt too. */
export function runInAttempt<Result>(attempt: AttemptContext, run: () => Result): Result {
  return storage.run(attempt, run);
}

/** Runs code that outlives the attempt, or speaks for itself. */
export function runOutsideAttempts<Result>(run: () => Result): Result {
  return storage.exit(run);
}

/** The attempt that the running code belongs to, if any. */
export function currentAttempt(): AttemptContext | undefined {
  return storage.getStore();
}

/** @throws {Error} naming the remedy, where no transaction is open. */
export function openManager({ manager }: AttemptContext): EntityManager {
  return manager ?? noOpenManager();
}

/** @throws {Error} naming the remedy. */
export function noOpenManager(): never {
  throw new Error(
    "The handler opens its transaction itself (transaction: 'manual'), and none is open now. " +
      'Write inside `operation.commit((manager) => …)`.',
  );
}
