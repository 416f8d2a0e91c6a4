import type { EntityManager } from 'typeorm';

import { workBroken } from '../core/errors.js';
import type { Execution } from '../core/execution.js';
import type { Operation } from '../core/operation.js';
import type { AttemptContext } from './attempt-context.js';
import type { RunningOperation } from './running-operation.js';

/**
 * What the code of one run can know and reach.
 *
 * Each run has one of its own: code that a failed run has left behind finds what was that run's, which is closed, and
 * never the transaction of the next.
 */
export class HandlerRun implements AttemptContext {
  private isEntered = false;

  constructor(
    /** Who runs it. */
    readonly owner: object,
    private readonly execution: Execution<EntityManager>,
    readonly handle: RunningOperation,
    /** The wrapper of the handler that is run; undefined where it is none. */
    private readonly wrapper?: symbol,
    /** Told before the handler is entered; throws where it may not be. */
    private readonly onEnter?: () => void,
  ) {}

  /** Once: an interceptor inside ours that runs the handler again would add to what the first time has written. */
  enter(wrapper: symbol): void {
    if (wrapper !== this.wrapper) return;
    if (this.isEntered) {
      throw workBroken(
        'The handler was run twice in one transaction. Remove the interceptor that does so, or move it outside: before ' +
          'IdempotencyModule, as APP_INTERCEPTOR.',
      );
    }
    this.onEnter?.();
    this.isEntered = true;
  }

  get operation(): Operation {
    return this.execution.attempt.operation;
  }

  get manager(): EntityManager | null {
    return this.handle.openManager;
  }

  get isOver(): boolean {
    return this.handle.isOver;
  }

  get signal(): AbortSignal {
    return this.execution.signal;
  }

  afterCommit(callback: () => unknown): void {
    this.handle.afterCommit(callback);
  }
}
