import type { DataSource } from 'typeorm';

import type { RecordSweep, Swept } from '../core/ports.js';
import type { IdempotencyRecord } from './entities/idempotency-record.entity.js';
import { queryPrimary } from './primary.js';
import { recordNames, type TableNames } from './table-names.js';

/**
 * What a sweep may delete: what can be replayed no more and is at work for nobody. Operations with steps stay: they know
 * of outside calls.
 */
function isSwept(c: TableNames<IdempotencyRecord>['columns']): string {
  return `(${c.state} = 'completed' OR (NOT ${c.hasSteps} AND (${c.lockedUntil} IS NULL OR ${c.lockedUntil} <= now())))`;
}

/** Deletes records past their retention, some at a time. */
export class PostgresSweep implements RecordSweep {
  private readonly sweepText: string;
  private readonly skipText: string;

  constructor(private readonly dataSource: DataSource) {
    const { table, columns: c } = recordNames(dataSource);
    /*
     * $1 batch, $2 the expiry to begin at: the index entries of what was deleted before are not walked again. Rows that
     * somebody has locked are somebody's. A row that is claimed meanwhile has another expiry by then, and is looked at
     * again when its lock is granted.
     */
    const due = `
  SELECT ctid, ${c.expiresAt} AS expiry FROM ${table} WHERE ${c.expiresAt} <= now() AND ${c.expiresAt} >= $2::timestamptz AND ${isSwept(c)}
  ORDER BY ${c.expiresAt} LIMIT $1 FOR UPDATE SKIP LOCKED`;
    this.sweepText = `
WITH swept AS (DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM (${due}) AS due)) RETURNING ${c.expiresAt} AS expiry)
SELECT count(*)::integer AS count, max(expiry)::text AS last FROM swept`;
    this.skipText = `
SELECT min(expiry)::text AS next FROM (
  SELECT ${c.expiresAt} AS expiry FROM ${table} WHERE ${c.expiresAt} <= now() AND ${c.expiresAt} > (
    SELECT min(${c.expiresAt}) FROM ${table} WHERE ${c.expiresAt} >= $1::timestamptz AND ${isSwept(c)})
  ORDER BY ${c.expiresAt} LIMIT 1) AS after`;
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
