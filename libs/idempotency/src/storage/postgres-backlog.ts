import type { DataSource } from 'typeorm';

import type { Operation } from '../core/operation.js';
import type { Backlog, UnfinishedOperation } from '../core/ports.js';
import { queryPrimary } from './primary.js';
import { interval } from './statements.js';
import { recordNames, stepNames } from './table-names.js';

interface OperationRow extends Operation {
  fingerprint: Buffer;
}

/**
 * Finds operations by their steps.
 *
 * Steps end with the recording of their operation, so their table holds what is under way and nothing else: it is
 * small, where looking for a state among the records would mean looking at all of them.
 */
export class PostgresBacklog implements Backlog {
  private readonly abandonedText: string;

  constructor(private readonly dataSource: DataSource) {
    const { table, columns: c } = recordNames(dataSource);
    const { table: steps, columns: s } = stepNames(dataSource);
    this.abandonedText = `
WITH last AS (
  SELECT ${s.tenant} AS tenant, ${s.endpoint} AS endpoint, ${s.key} AS key, max(greatest(${s.intendedAt}, ${s.finishedAt})) AS at
  FROM ${steps} WHERE ${s.endpoint} = ANY ($1) GROUP BY 1, 2, 3)
SELECT r.${c.tenant} AS tenant, r.${c.endpoint} AS endpoint, r.${c.key} AS key, r.${c.fingerprint} AS fingerprint
FROM last JOIN ${table} AS r ON r.${c.tenant} = last.tenant AND r.${c.endpoint} = last.endpoint AND r.${c.key} = last.key
WHERE last.at <= now() - $2::interval AND r.${c.state} = 'in_progress' AND (r.${c.lockedUntil} IS NULL OR r.${c.lockedUntil} <= now())
ORDER BY last.at LIMIT $3`;
  }

  async abandoned(endpoints: readonly string[], afterMs: number, limit: number): Promise<UnfinishedOperation[]> {
    const values = [endpoints, interval(afterMs), limit];
    const rows = await queryPrimary<OperationRow>(this.dataSource, this.abandonedText, values);
    return rows.map(({ fingerprint, ...operation }) => ({ operation, fingerprint }));
  }
}
