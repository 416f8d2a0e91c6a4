import type { Client } from 'pg';
import { until } from './until.js';

/** What became of one operation, read past the library. */
export interface Finding {
  readonly key: string;
  readonly state: string | null;
  readonly status: number | null;
  /** The execution whose answer is recorded. */
  readonly recorded: string | null;
  /** The executions that left an effect, with the parts they left. */
  readonly effects: readonly string[];
}

/** Waits until no session of a worker has a transaction open: nothing can be committed late. */
export function untilQuiet(witness: Client): Promise<void> {
  return until('every transaction of a worker is over', async () => {
    const { rowCount } = await witness.query(
      `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'worker' AND xact_start IS NOT NULL`,
    );
    return rowCount === 0;
  });
}

export async function findings(witness: Client, keyPrefix: string): Promise<Finding[]> {
  const { rows } = await witness.query<Finding>(
    `SELECT key, r.state, r.response_status AS status, convert_from(r.response_body, 'UTF8') AS recorded,
            coalesce(e.effects, '{}') AS effects
       FROM (SELECT * FROM idempotency_records WHERE starts_with(key, $1)) r
       FULL JOIN (SELECT key, array_agg(execution || ' ' || part ORDER BY execution, part) AS effects
                    FROM effects WHERE starts_with(key, $1) GROUP BY key) e USING (key)`,
    [keyPrefix],
  );
  return rows;
}

/** What is wrong with one operation: nothing, or its name. */
export function verdictOn({ state, status, recorded, effects }: Finding): string | null {
  if (state !== 'completed') return effects.length > 0 ? 'an effect without its record' : 'never completed';
  const expected = status === 201 ? [`${recorded} 1`, `${recorded} 2`] : [];
  if (effects.join() === expected.join()) return null;
  if (effects.length === 0) return 'a record without its effect';
  return expected.every((part) => effects.includes(part)) ? 'a double commit' : 'an effect without its record';
}
