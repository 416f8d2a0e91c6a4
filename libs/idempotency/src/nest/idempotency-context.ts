import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

import type { Operation } from '../core/operation.js';
import { type AttemptContext, currentAttempt, openManager } from './attempt-context.js';

/** The running operation, for services that do not get the manager as a parameter. */
@Injectable()
export class IdempotencyContext {
  /** Whether the calling code runs inside an idempotent operation. */
  get isActive(): boolean {
    return currentAttempt() !== undefined;
  }

  /** The manager of the operation's transaction: whatever is to be undone with it must be written through it. */
  get manager(): EntityManager {
    return openManager(this.attempt);
  }

  /** Null for a request without a key, where none is required. */
  get operation(): Operation | null {
    return this.attempt.operation;
  }

  /** Aborted when the operation was taken over by another worker: nothing done from then on can be committed. */
  get signal(): AbortSignal {
    return this.attempt.signal;
  }

  /**
   * Calls back once the operation is committed, and not at all if it is not.
   *
   * At most once, in this process: what must happen even if the process dies belongs into the transaction.
   */
  afterCommit(callback: () => unknown): void {
    this.attempt.afterCommit(callback);
  }

  private get attempt(): AttemptContext {
    const attempt = currentAttempt();
    if (!attempt) {
      throw new Error(
        'IdempotencyContext was used outside an idempotent operation. Is the handler decorated with @Idempotent(), ' +
          'and does this code run before it returns?',
      );
    }
    return attempt;
  }
}
