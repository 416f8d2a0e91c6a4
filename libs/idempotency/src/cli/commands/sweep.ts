import { Pauses } from '../../core/patience.js';
import type { RecordSweep } from '../../core/ports.js';
import { Sweeper } from '../../maintenance/sweeper.js';
import { recordSweeps } from '../../storage/postgres-sweep.js';
import { type DatabaseOptions, withDatabase } from '../database.js';
import { EXIT, failureOf } from '../failure.js';
import { answer, tell } from '../output.js';

export interface SweepOptions extends DatabaseOptions {
  readonly json?: boolean;
  readonly batch: number;
}

/** How often it is said how far it has come, in milliseconds. */
const PROGRESS_EVERY_MS = 2_000;

/** Clears away every record that is due, as the module does by itself. */
export async function sweep(options: SweepOptions): Promise<void> {
  await withDatabase(options, async ({ dataSource }) => {
    let failure: unknown;
    const sweeper = new Sweeper(watched(recordSweeps(dataSource)), options.batch, new Pauses(), (message, error) => {
      failure = error;
      tell(message);
    });
    let isInterrupted = false;
    const interrupt = (): void => {
      isInterrupted = true;
      tell('Ending with the batch under way.');
      void sweeper.stop();
    };
    process.once('SIGINT', interrupt);
    const swept = await sweeper.sweepDue();
    process.off('SIGINT', interrupt);
    answer(options.json ?? false, { swept, isComplete: !isInterrupted && failure === undefined }, () =>
      isInterrupted ? `Interrupted after ${swept} records; the rest is due still.` : `Swept ${swept} records.`,
    );
    if (isInterrupted) process.exitCode = EXIT.interrupted;
    else if (failure !== undefined) throw failureOf(failure);
  });
}

/** The same, and says from time to time how far they have come. */
function watched(sweeps: readonly RecordSweep[]): RecordSweep[] {
  let total = 0;
  let toldAt = performance.now();
  return sweeps.map((sweep) => ({
    sweep: async (batch, from) => {
      const swept = await sweep.sweep(batch, from);
      total += swept.count;
      if (performance.now() - toldAt >= PROGRESS_EVERY_MS) {
        toldAt = performance.now();
        tell(`${total} records so far`);
      }
      return swept;
    },
    beyond: (from) => sweep.beyond(from),
  }));
}
