import { isConnectionLost } from '../../storage/postgres-errors.js';
import type { RecordSummary } from '../../storage/postgres-repair.js';
import { assertConfirmable, confirm, type ConfirmOptions } from '../confirm.js';
import { type Database, type DatabaseOptions, withDatabase } from '../database.js';
import { EXIT, failureOf, refused, unavailable } from '../failure.js';
import { answer, tell } from '../output.js';
import { recordDocument, recordLines } from '../record-view.js';

export interface ChangeOptions extends DatabaseOptions, ConfirmOptions {
  readonly json?: boolean;
}

/** What is to be done about what was seen. */
export interface Change {
  readonly seen: RecordSummary;
  /** What it means, said before it is asked for. */
  readonly consequences: readonly string[];
  /** False where the record is not any more what was seen; nothing was changed then. */
  readonly make: () => Promise<boolean>;
  /** What is said when it is done. */
  readonly done: string;
}

/** There is nothing to do: what is asked for is so already. */
export interface NoChange {
  readonly seen: RecordSummary;
  readonly done: string;
}

/** Looks, says what it saw, asks, and changes what it saw and nothing else. */
export async function change(
  options: ChangeOptions,
  decide: (database: Database) => Promise<Change | NoChange>,
): Promise<void> {
  assertConfirmable(options);
  await withDatabase(options, async (database) => {
    const decided = await decide(database);
    const { seen, done } = decided;
    const isChange = 'make' in decided;
    if (isChange) {
      tell([`In ${database.name}:`, '', ...recordLines(seen), '', ...decided.consequences].join('\n'));
      await confirm(options);
      if (!(await made(decided))) throw refused('moved_on', 'The record moved on; nothing was changed.');
    }
    answer(options.json ?? false, { changed: isChange, record: recordDocument(seen) }, () => done);
  });
}

async function made({ make }: Change): Promise<boolean> {
  process.once('SIGINT', endUnknown);
  try {
    return await make();
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
    throw unavailable(`${failureOf(error).message} ${UNKNOWN}`);
  } finally {
    process.off('SIGINT', endUnknown);
  }
}

const UNKNOWN = 'It is not known whether it was changed: `show` tells.';

function endUnknown(): void {
  tell(`\n${UNKNOWN}`);
  process.exit(EXIT.interrupted);
}
