import { Inject, Injectable } from '@nestjs/common';

import type { Operation } from '../core/operation.js';
import type { Outcomes } from '../core/ports.js';
import { type NotResolved, resolveStep, type StepOutcome } from '../maintenance/resolve-step.js';
import type { Sweeper } from '../maintenance/sweeper.js';
import { Reconciliation } from './reconciliation.js';
import { OUTCOMES, SWEEPER } from './tokens.js';

/** Operations looked at from beside: for whoever answers for them. */
@Injectable()
export class IdempotentOperations {
  constructor(
    @Inject(OUTCOMES) private readonly outcomes: Outcomes,
    @Inject(SWEEPER) private readonly sweeper: Sweeper,
    private readonly reconciliation: Reconciliation,
  ) {}

  /**
   * Takes up, now, what `@Reconciles()` methods are there for, as the module does from time to time by itself; resolves
   * to how many operations were settled.
   */
  reconcile(): Promise<number> {
    return this.reconciliation.reconcileDue();
  }

  /**
   * Deletes records past their retention, now, as the module does from time to time by itself; resolves to how many they
   * were. For an application that is started for it, such as by cron, where the others have `sweep: false`.
   */
  sweep(): Promise<number> {
    return this.sweeper.sweepDue();
  }

  /**
   * Puts on record what became of a step whose outcome is unknown, such as one that `whenUnknown: 'hold'` holds; the
   * next attempt, a client's or the reconciler's, goes on from there.
   *
   * Null when it is on record; `not_found` where there is no such operation in progress, or none of its calls has that
   * name; `in_progress` where somebody works on it. A step whose result is known is left as it is.
   */
  resolve(operation: Operation, step: string, outcome: StepOutcome): Promise<NotResolved | null> {
    return resolveStep(this.outcomes, operation, step, outcome);
  }
}
