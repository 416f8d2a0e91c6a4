import type { Operation } from '../../core/operation.js';
import { refused } from '../failure.js';
import { change, type ChangeOptions } from './change.js';
import { found } from './found.js';

/** Ends the retention of a recording, and has its key forgotten. */
export function expire(operation: Operation, options: ChangeOptions): Promise<void> {
  return change(options, async ({ repair }) => {
    const { record: seen } = found(await repair.find(operation));
    switch (seen.state) {
      case 'expired':
      case 'completed':
        if (seen.isForgotten) return { seen, done: 'It has expired, and its key is free. Nothing was changed.' };
        return {
          seen,
          consequences: [
            'WARNING: its recording is replayed to nobody any more. The next request with this key IS A NEW OPERATION:',
            'it runs, and whatever the first one did (a payment, an order) IS DONE AGAIN. Undo that first, if it is to be.',
          ],
          make: () => repair.expire(seen),
          done: 'Expired: the next request with this key is a new operation, and runs.',
        };
      case 'in_progress':
      case 'abandoned':
      case 'unknown':
        throw refused('not_completed', 'It is not completed: there is no recording that could expire. See `release`.');
    }
  });
}
