import type { Pauses } from '../core/patience.js';
import type { RecordSweep, Report } from '../core/ports.js';

/** How many records are cleared in one transaction: in some tens of milliseconds, for which a row of it is locked. */
export const SWEEP_BATCH = 1_000;

/** So many in a row that cannot be cleared are not at fault themselves: the sweep ends there, until another time. */
const MOST_LEFT_OUT = 20;

/** How much longer than a batch the pause after it is. */
const PAUSES = 3;

/** Where a sweep begins: with the record that expired first. */
const FROM_THE_FIRST = '-infinity';

/**
 * Clears records past their retention away, as a batch verb: somebody else decides when.
 *
 * Any number of processes may do so at once: each skips what another one has just locked. A batch is followed by a pause
 * three times as long, so that a sweep of many takes the database for a quarter of its time at most.
 */
export class Sweeper {
  private running: Promise<number> | null = null;
  private isStopping = false;

  constructor(
    /** Each over what it is due for, one after the other. */
    private readonly sweeps: readonly RecordSweep[],
    /** The most records that are cleared in one transaction. */
    private readonly batch: number,
    private readonly pauses: Pauses,
    private readonly report: Report,
  ) {}

  /** Clears all that is due; resolves to how many records that were. Never rejects. */
  sweepDue(): Promise<number> {
    this.running ??= this.sweepAll().finally(() => (this.running = null));
    return this.running;
  }

  /** Ends with the batch under way. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.pauses.endAll();
    await this.running;
  }

  private async sweepAll(): Promise<number> {
    let swept = 0;
    for (const sweep of this.sweeps) swept += await this.sweepBy(sweep);
    return swept;
  }

  private async sweepBy(sweep: RecordSweep): Promise<number> {
    let swept = 0;
    /** How many more records go one by one, after a batch that could not be cleared. */
    let single = 0;
    /** How many records in a row could not be cleared. */
    let leftOut = 0;
    let next: string | null = FROM_THE_FIRST;
    while (next !== null && !this.isStopping) {
      const from = next;
      const startedAt = performance.now();
      const batch = single > 0 ? 1 : this.batch;
      try {
        const { count, last } = await sweep.sweep(batch, from);
        swept += count;
        next = count < batch ? null : last;
        if (single > 0) single--;
        if (count > 0) leftOut = 0;
      } catch (error) {
        if (batch > 1) single = batch;
        else {
          next = await this.beyond(sweep, from, error);
          single = 0;
          if (++leftOut === MOST_LEFT_OUT && next !== null) {
            this.report(
              'The next ones could not be deleted either; records past their retention are swept another time.',
              error,
            );
            next = null;
          }
        }
      }
      if (next !== null) await this.pauses.for(PAUSES * (performance.now() - startedAt));
    }
    return swept;
  }

  /** Leaves out the record that could not be cleared. */
  private async beyond(sweep: RecordSweep, from: string, error: unknown): Promise<string | null> {
    try {
      const next = await sweep.beyond(from);
      this.report('A record past its retention could not be deleted, and was left out.', error);
      return next;
    } catch {
      this.report('The store did not answer; records past their retention are swept another time.', error);
      return null;
    }
  }
}
