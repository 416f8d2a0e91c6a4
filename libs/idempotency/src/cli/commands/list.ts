import type { RecordState } from '../../storage/repair-statements.js';
import { type DatabaseOptions, withDatabase } from '../database.js';
import { answer } from '../output.js';
import { recordDocument, recordTable } from '../record-view.js';

export interface ListOptions extends DatabaseOptions {
  readonly json?: boolean;
  readonly state?: RecordState;
  readonly tenant?: string;
  readonly endpoint?: string;
  readonly hash?: string;
  /** In milliseconds. */
  readonly olderThan?: number;
  readonly limit: number;
  readonly order: 'newest' | 'oldest';
  readonly hashKeys?: boolean;
}

/** Lists records, some of them, and says when there are more. */
export async function list(options: ListOptions): Promise<void> {
  const { json = false, limit, olderThan: olderThanMs, ...filter } = options;
  await withDatabase(options, async ({ repair }) => {
    const found = await repair.list({ ...filter, olderThanMs, limit: limit + 1 });
    const [records, hasMore] = [found.slice(0, limit), found.length > limit];
    const document = { records: records.map((record) => recordDocument(record, options)), hasMore };
    answer(json, document, () => {
      if (records.length === 0) return 'No such record.';
      const more = hasMore ? `\n\nThere are more than these ${limit}. --limit shows more of them.` : '';
      return recordTable(records, options) + more;
    });
  });
}
