import type { EntityManager } from 'typeorm';

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
  constructor(
    /** Who runs it. */
    readonly owner: object,
    private readonly execution: Execution<EntityManager>,
    readonly handle: RunningOperation,
    readonly enter: (wrapper: symbol) => void,
  ) {}

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
