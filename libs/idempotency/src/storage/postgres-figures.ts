import type { DataSource } from 'typeorm';

import type { TableFigures } from '../core/ports.js';
import { Connection, type ConnectionOptions } from './connection.js';
import { isLeft } from './postgres-sweep.js';
import type { Statement } from './statements.js';
import { recordNames, stepNames, type TableNames } from './table-names.js';
import type { IdempotencyRecord } from './entities/idempotency-record.entity.js';
import type { IdempotencyStep } from './entities/idempotency-step.entity.js';

/** So many rows are looked at, and no more: beyond them a figure says "many". */
const MOST_ROWS = 10_000;

/** Reads how the tables are filled, on the primary, each figure by one statement that looks at a bounded number of rows. */
export class PostgresFigures implements TableFigures {
  private readonly statements: Readonly<Record<keyof TableFigures, Statement>>;
  private readonly table: string;
  private readonly stateColumn: string;

  constructor(
    private readonly dataSource: DataSource,
    private readonly options: Pick<ConnectionOptions, 'acquireTimeoutMs' | 'statementTimeoutMs'>,
  ) {
    const records = recordNames(dataSource);
    this.table = records.table;
    this.stateColumn = records.metadata.columns.find(({ propertyName }) => propertyName === 'state')!.databaseName;
    this.statements = figureStatementsFor(records, stepNames(dataSource));
  }

  async records(): Promise<Readonly<Record<string, number>>> {
    const rows = await this.run<{ state: string; records: number }>('records', [this.table, this.stateColumn]);
    return Object.fromEntries(rows.map(({ state, records }) => [state, records]));
  }

  async unknown(): Promise<{ readonly count: number; readonly oldestAgeMs: number }> {
    const [row] = await this.run<{ count: number; oldest_age_ms: number }>('unknown', [MOST_ROWS]);
    return { count: row!.count, oldestAgeMs: row!.oldest_age_ms };
  }

  async sweepLagMs(): Promise<number | null> {
    const [row] = await this.run<{ lag_ms: number | null }>('sweepLagMs', [MOST_ROWS]);
    return row!.lag_ms;
  }

  private async run<Row extends object>(name: keyof TableFigures, values: readonly unknown[]): Promise<Row[]> {
    const connection = await Connection.checkOut(this.dataSource, { ...this.options, areStatementsPrepared: false });
    try {
      return (await connection.run<Row>(this.statements[name], values)).rows;
    } finally {
      connection.close();
    }
  }
}

/** Each figure's statement, for one pair of tables. */
export function figureStatementsFor(
  { table, columns: c }: TableNames<IdempotencyRecord>,
  { table: steps, columns: s }: TableNames<IdempotencyStep>,
): Readonly<Record<keyof TableFigures, Statement>> {
  /*
   * $1 table, $2 its column of states. No index has the state: one that had it would end HOT updates. What the planner
   * has not come across does not exist, as far as it knows; of a table that was never analysed it knows nothing.
   */
  const records = `
SELECT state, round(c.reltuples * coalesce(known.freq, 0))::float8 AS records
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_stats AS s ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = $2 AND s.inherited = (c.relkind = 'p')
CROSS JOIN unnest(ARRAY['in_progress', 'completed']) AS state
LEFT JOIN unnest(s.most_common_vals::text::text[], s.most_common_freqs) AS known(value, freq) ON known.value = state
WHERE c.oid = to_regclass($1) AND c.reltuples > 0 AND s.most_common_vals IS NOT NULL`;

  /* $1 at most so many calls. Steps end with their operation, so their table holds what is under way and no more. */
  const unknown = `
SELECT count(*)::integer AS count, coalesce(extract(epoch FROM now() - min(since)) * 1000, 0)::float8 AS oldest_age_ms
FROM (
  SELECT min(intended_at) AS since FROM (
    SELECT ${s.tenant} AS tenant, ${s.endpoint} AS endpoint, ${s.key} AS key, ${s.intendedAt} AS intended_at
    FROM ${steps} WHERE ${s.result} IS NULL LIMIT $1) AS calls
  JOIN ${table} AS r ON r.${c.tenant} = calls.tenant AND r.${c.endpoint} = calls.endpoint AND r.${c.key} = calls.key
  WHERE r.${c.state} = 'in_progress' AND (r.${c.lockedUntil} IS NULL OR r.${c.lockedUntil} <= now())
  GROUP BY calls.tenant, calls.endpoint, calls.key) AS operations`;

  /*
   * $1 at most so many records, from the one on whose time came first: those that stay for their steps stand before it,
   * and where all of them do, nobody knows.
   */
  const overdue = (time: string) => `
  SELECT min(at) FILTER (WHERE is_left) AS at, count(*) < $1 OR bool_or(is_left) AS is_known
  FROM (SELECT ${time} AS at, ${isLeft(c)} AS is_left FROM ${table} WHERE ${time} <= now() ORDER BY ${time} LIMIT $1) AS due`;
  const sweepLagMs = `
SELECT CASE WHEN min(at) IS NOT NULL THEN extract(epoch FROM now() - min(at)) * 1000 WHEN bool_and(is_known) THEN 0 END::float8 AS lag_ms
FROM (${overdue(c.expiresAt)} UNION ALL ${overdue(c.replaysUntil)}) AS first`;

  const named = (name: string, text: string): Statement => ({ name: `idempotency_figure_${name}`, text });
  return {
    records: named('records', records),
    unknown: named('unknown', unknown),
    sweepLagMs: named('sweep_lag', sweepLagMs),
  };
}
