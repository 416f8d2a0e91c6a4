import type { ClaimTerms } from '../core/attempt.js';
import { IdempotencyError, outcomeUnknown } from '../core/errors.js';
import type { Execution, Verdict } from '../core/execution.js';
import type { Executor } from '../core/executor.js';
import { Observation, type Observer } from '../core/observation.js';
import type { Operation } from '../core/operation.js';
import { endingOf } from '../core/outcome.js';
import { NO_PATIENCE } from '../core/patience.js';
import type { Backlog, Report, UnfinishedOperation } from '../core/ports.js';

/** Brings one operation to its end that no retry came back for. `release` leaves it as it is. */
export type Reconcile<Tx> = (execution: Execution<Tx>) => Promise<Verdict>;

/** One endpoint whose operations are finished for clients that gave up. */
export interface ReconciledEndpoint<Tx> {
  /** Of the reconciler's own claims. */
  readonly terms: ClaimTerms;
  readonly reconcile: Reconcile<Tx>;
}

/** How many operations are taken up in one go. */
const BATCH = 20;

/**
 * Settles operations that have begun outside calls and that nobody works on, as a batch verb: somebody else decides
 * when.
 *
 * Any number of processes may do so at once: each operation is taken under a claim of its own.
 */
export class Reconciler<Tx> {
  private running: Promise<number> | null = null;

  constructor(
    private readonly backlog: Backlog,
    private readonly executor: Executor<Tx>,
    private readonly endpoints: ReadonlyMap<string, ReconciledEndpoint<Tx>>,
    /** How long after its last outside call an operation is left to its client's retries, in milliseconds. */
    private readonly afterMs: number,
    /** How long one operation may take before the reconciler goes on without it, in milliseconds. */
    private readonly longestMs: number,
    private readonly observer: Observer,
    private readonly report: Report,
  ) {}

  /** Takes up what has been waiting for long enough; resolves to how many operations were settled. Never rejects. */
  reconcileDue(): Promise<number> {
    this.running ??= this.reconcile().finally(() => (this.running = null));
    return this.running;
  }

  private async reconcile(): Promise<number> {
    const seen = new Set<string>();
    let settled = 0;
    try {
      if (this.endpoints.size === 0) return 0;
      for (;;) {
        // What could not be settled is found again, and is not to stand before the rest.
        const found = await this.backlog.abandoned([...this.endpoints.keys()], this.afterMs, seen.size + BATCH);
        const fresh = found.filter(({ operation }) => !seen.has(idOf(operation)));
        if (fresh.length === 0) break;
        for (const one of fresh) {
          seen.add(idOf(one.operation));
          if (await this.settle(one)) settled++;
        }
      }
    } catch (error) {
      if (!isShuttingDown(error)) this.report('Operations that nobody came back for could not be looked for.', error);
    }
    return settled;
  }

  private async settle({ operation, fingerprint }: UnfinishedOperation): Promise<boolean> {
    const endpoint = this.endpoints.get(operation.endpoint)!;
    try {
      const attempt = { operation, fingerprint, ...endpoint.terms };
      const observation = new Observation(this.observer, 'reconciler', operation.endpoint);
      await observation.identify(() => attempt);
      const arrival = await this.executor.arrive(attempt, NO_PATIENCE, observation);
      // Done meanwhile, by somebody who came back for it.
      if (arrival.kind === 'replay') observation.end({ outcome: 'replayed' });
      if (arrival.kind !== 'claimed') return false;
      const { execution } = arrival;
      const verdict = await this.inTime(this.verdictOn(execution, endpoint));
      if (verdict === null) {
        // Its end waits for what is still being written, which may be for ever.
        void execution.settle({ kind: 'release' });
        throw new Error(`It took longer than ${this.longestMs} ms; the operation stays as it is.`);
      }
      const fate = await execution.settle(verdict);
      if (fate.kind === 'failed' || fate.kind === 'unknown') throw fate.cause;
      return fate.kind === 'recorded';
    } catch (error) {
      if (isShuttingDown(error)) throw error;
      this.report(`An operation of ${operation.endpoint} could not be reconciled.`, error, operation);
      return false;
    }
  }

  /** Null where it takes too long, whatever becomes of it then. */
  private async inTime(work: Promise<Verdict>): Promise<Verdict | null> {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, this.longestMs, null).unref();
    });
    try {
      return await Promise.race([work, over]);
    } finally {
      clearTimeout(timer);
    }
  }

  private async verdictOn(execution: Execution<Tx>, { reconcile }: ReconciledEndpoint<Tx>): Promise<Verdict> {
    try {
      const verdict = await reconcile(execution);
      // Whatever was made of it: what may have happened outside is not to be forgotten.
      if (!execution.steps.hasUnknown) return verdict;
      return { kind: 'release', ending: endingOf(outcomeUnknown(), 'failed') };
    } catch (error) {
      const { operation } = execution.attempt;
      this.report(`The reconciler of ${operation.endpoint} failed; the operation stays as it is.`, error, operation);
      await execution.rollback();
      return { kind: 'release', ending: endingOf(error, 'failed') };
    }
  }
}

function idOf({ tenant, endpoint, key }: Operation): string {
  return JSON.stringify([tenant, endpoint, key]);
}

function isShuttingDown(error: unknown): boolean {
  return error instanceof IdempotencyError && error.code === 'idempotency-shutting-down';
}
