import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

import type { Executor } from '../core/executor.js';
import type { Operation } from '../core/operation.js';
import type { Backlog } from '../core/ports.js';
import { providerKey } from '../core/provider-key.js';
import type { StepResult } from '../core/step-codec.js';
import type { Sweeper } from '../maintenance/sweeper.js';
import { Reconciliation } from './reconciliation.js';
import type { ModuleSettings } from './settings.js';
import { BACKLOG, EXECUTOR, SETTINGS, SWEEPER } from './tokens.js';

/** What somebody found out about a call of which nobody knew whether it had happened. */
export type StepOutcome =
  | { readonly kind: 'happened'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly message: string; readonly details?: unknown }
  | { readonly kind: 'did_not_happen' };

/** Why an outcome could not be put on record. */
export type NotResolved = 'not_found' | 'in_progress';

/** The claim under which an outcome is put on record; what comes after it brings terms of its own. */
const LEASE_MS = 30_000;
const RETENTION_MS = 24 * 60 * 60 * 1000;

/** Operations looked at from beside: for whoever answers for them. */
@Injectable()
export class IdempotentOperations {
  constructor(
    @Inject(BACKLOG) private readonly backlog: Backlog,
    @Inject(EXECUTOR) private readonly executor: Executor<EntityManager>,
    @Inject(SETTINGS) private readonly settings: ModuleSettings,
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
  async resolve(operation: Operation, step: string, outcome: StepOutcome): Promise<NotResolved | null> {
    const found = await this.backlog.find(operation, step);
    if (!found) return 'not_found';
    const attempt = { ...found, strategy: { kind: 'lease' }, leaseMs: LEASE_MS, retentionMs: RETENTION_MS } as const;
    const arrival = await this.executor.arrive(attempt);
    if (arrival.kind !== 'claimed') return arrival.kind === 'in_progress' ? 'in_progress' : 'not_found';
    const { execution } = arrival;
    try {
      const secret = this.settings.providerKeySecret ?? '';
      const key = providerKey(secret, operation, found.fingerprint, step);
      return (await execution.steps.resolve(step, key, resultOf(outcome))) ? null : 'not_found';
    } finally {
      await execution.settle({ kind: 'release' });
    }
  }
}

function resultOf(outcome: StepOutcome): StepResult | null {
  switch (outcome.kind) {
    case 'happened':
      return { kind: 'succeeded', value: outcome.value };
    case 'refused':
      return { kind: 'refused', message: outcome.message, details: outcome.details };
    case 'did_not_happen':
      return null;
  }
}
