import type { Operation } from '../../core/operation.js';
import type { RecordSummary, StepDetail } from '../../storage/postgres-repair.js';
import { refused } from '../failure.js';
import { printable, spoken } from '../output.js';
import { change, type ChangeOptions } from './change.js';
import { found } from './found.js';

export interface ReleaseOptions extends ChangeOptions {
  readonly force?: boolean;
}

/** Makes an operation in progress claimable at once. */
export function release(operation: Operation, options: ReleaseOptions): Promise<void> {
  const { force = false } = options;
  return change(options, async ({ repair }) => {
    const { record: seen, steps } = found(await repair.find(operation));
    switch (seen.state) {
      case 'completed':
      case 'expired':
        throw refused('not_in_progress', 'It is completed: there is no claim to let go of.');
      case 'in_progress':
        if (force) break;
        throw refused(
          'lease_is_live',
          `Its lease is live for another ${spoken(seen.leaseLeftSeconds ?? 0)}, and a worker that lives renews it. Wait for that, ` +
            'or say --force: the worker, if it lives, then loses at its recording, and what it wrote is rolled back.',
        );
      case 'abandoned':
      case 'unknown':
        if (seen.token === null)
          return { seen, done: 'Nobody holds it: a retry takes it up at once. Nothing was changed.' };
    }
    return {
      seen,
      consequences: consequencesOf(seen, steps),
      make: () => repair.release(seen, { evenIfLive: force }),
      done: 'Released: the next retry takes it up at once.',
    };
  });
}

function consequencesOf({ state }: RecordSummary, steps: readonly StepDetail[]): string[] {
  const open = steps.filter(({ result }) => result === null).map(({ name }) => `'${printable(name)}'`);
  return [
    'It is made claimable at once. Its worker, if it lives, loses at its recording, and what it wrote is rolled back.',
    ...(state === 'in_progress' && open.length > 0
      ? [
          `A call of the step ${open.join(', ')} may be on its way still: a retry asks about it, or makes it again, too early.`,
        ]
      : []),
  ];
}
