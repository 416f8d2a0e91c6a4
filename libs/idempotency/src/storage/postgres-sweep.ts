import type { DataSource } from 'typeorm';

import type { RecordSweep, Swept } from '../core/ports.js';
import type { IdempotencyRecord } from './entities/idempotency-record.entity.js';
import { queryPrimary } from './primary.js';
import { instant } from './statements.js';
import { recordNames, type TableNames } from './table-names.js';

/**
 * What a sweep may touch once its time has come. Operations with steps stay: they know of outside calls. So does what is
 * at work, under a live lease.
 */
export function isLeft(c: TableNames<IdempotencyRecord>['columns']): string {
  return `(${c.state} = 'completed' OR (NOT ${c.hasSteps} AND (${c.lockedUntil} IS NULL OR ${c.lockedUntil} <= now())))`;
}

/** Found by its place, which has to be told together with the table where that has partitions. */
const IS_DUE = 'ctid = ANY (ARRAY(SELECT ctid FROM due)) AND (tableoid, ctid) IN (SELECT tableoid, ctid FROM due)';

/** Every sweep that there is, in the order in which they clear the least that the next one has to look at. */
export function recordSweeps(dataSource: DataSource): RecordSweep[] {
  return [forgotten(dataSource), pastRetention(dataSource)];
}

/** Deletes records whose keys are to be remembered no longer. */
function forgotten(dataSource: DataSource): RecordSweep {
  const { table, columns: c } = recordNames(dataSource);
  return new PostgresSweep(dataSource, c.expiresAt, `cleared AS (DELETE FROM ${table} WHERE ${IS_DUE} RETURNING true)`);
}

/**
 * Reduces records past their retention, whose keys are remembered for longer, to tombstones; what was given up before it
 * was done is no key that was used, and is deleted. An older version of the library, too, refuses to replay a tombstone.
 */
function pastRetention(dataSource: DataSource): RecordSweep {
  const { table, columns: c } = recordNames(dataSource);
  return new PostgresSweep(
    dataSource,
    c.replaysUntil,
    `deleted AS (DELETE FROM ${table} WHERE ${IS_DUE} AND ${c.state} = 'in_progress' RETURNING true),
reduced AS (UPDATE ${table} SET ${c.replaysUntil} = NULL, ${c.responseOmitted} = 'expired', ${c.responseHeaders} = NULL,
  ${c.responseBody} = NULL, ${c.responseKeyId} = NULL WHERE ${IS_DUE} AND ${c.state} = 'completed' RETURNING true),
cleared AS (SELECT FROM deleted UNION ALL SELECT FROM reduced)`,
  );
}

/** Clears away records whose time has come, some at a time. */
class PostgresSweep implements RecordSweep {
  private readonly sweepText: string;
  private readonly skipText: string;

  /**
   * `clearing`: common table expressions that do it to the locked rows `due (tableoid, ctid, at)`, the last
   * one `cleared`.
   */
  constructor(
    private readonly dataSource: DataSource,
    /** The indexed column that says when the time of a record comes. */
    time: string,
    clearing: string,
  ) {
    const { table, columns: c } = recordNames(dataSource);
    /*
     * $1 batch, $2 the time to begin at: the index entries of what was cleared before are not walked again. Rows that
     * somebody has locked are somebody's, and a row that was claimed just before is looked at again once it is locked.
     */
    this.sweepText = `
WITH due AS MATERIALIZED (
  SELECT tableoid, ctid, ${time} AS at FROM ${table} WHERE ${time} <= now() AND ${time} >= $2::timestamptz AND ${isLeft(c)}
  ORDER BY ${time} LIMIT $1 FOR UPDATE SKIP LOCKED
), ${clearing}
SELECT (SELECT count(*) FROM cleared)::integer AS count, ${instant('(SELECT max(at) FROM due)')} AS last`;
    this.skipText = `
SELECT ${instant('min(at)')} AS next FROM (
  SELECT ${time} AS at FROM ${table} WHERE ${time} <= now() AND ${time} > (
    SELECT min(${time}) FROM ${table} WHERE ${time} >= $1::timestamptz AND ${isLeft(c)})
  ORDER BY ${time} LIMIT 1) AS after`;
  }

  async sweep(batch: number, from: string): Promise<Swept> {
    const [row] = await queryPrimary<Swept>(this.dataSource, this.sweepText, [batch, from]);
    return row!;
  }

  async beyond(from: string): Promise<string | null> {
    const [row] = await queryPrimary<{ next: string | null }>(this.dataSource, this.skipText, [from]);
    return row!.next;
  }
}
