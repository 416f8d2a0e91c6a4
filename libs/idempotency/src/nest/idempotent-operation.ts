import type { EntityManager } from 'typeorm';

import type { StepCall, StepFailure, WhenUnknown } from '../core/steps.js';
import type { Duration } from './duration.js';

/** What is to be known of one outside call. */
export interface StepOptions<Result> {
  /** How long one call may take. Default `20s`. */
  readonly deadline?: Duration;
  /** The same in milliseconds. */
  readonly deadlineMs?: number;
  /** How often the call is tried in one attempt at the operation, with growing pauses between. Default 1. */
  readonly tries?: number;
  /** What a failure says of the call. Default `failureOf`: by the HTTP status that the error carries. */
  readonly failure?: (error: unknown) => StepFailure;
  /**
   * What to do about a call that may have happened. Default `repeat`: the provider keeps keys, so the same call under
   * the same key happens once. A function asks the provider, `hold` waits for somebody who knows.
   */
  readonly whenUnknown?: WhenUnknown<Result>;
}

/** The running operation, as its handler or its work can see and use it. */
export interface IdempotentOperation {
  readonly tenant: string;
  readonly endpoint: string;
  readonly key: string;
  /** Which attempt at the operation this is, counted from 1. */
  readonly attempts: number;
  /** Aborted when the operation was taken over by another worker. */
  readonly signal: AbortSignal;
  /** The manager of the open transaction. Throws where none is open: with `transaction: 'manual'`, outside `commit()`. */
  readonly manager: EntityManager;
  /**
   * Makes an outside call, once it is on record that it will be made, and keeps its result: a later attempt is given
   * the result, and does not make the call.
   *
   * What it resolves to is plain data, as it is kept. Rejects with `StepRefusedError` where the provider refused, now
   * or on an earlier attempt; with the call's own error where it had no effect; with `idempotency-outcome-unknown`
   * where nobody can tell.
   */
  step<Result>(name: string, call: (call: StepCall) => Promise<Result>, options?: StepOptions<Result>): Promise<Result>;
  /**
   * Runs the operation's one transaction, last and once: what it writes is committed together with the answer.
   *
   * After a deadlock or a serialization failure it is run again, as often as the endpoint's `conflictRetries` says.
   */
  commit<Result>(work: (manager: EntityManager) => Promise<Result>): Promise<Result>;
  /** Calls back once the operation is committed; at most once, and only in this process. */
  afterCommit(callback: () => unknown): void;
}
