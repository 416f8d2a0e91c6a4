import { queryPrimary } from './primary.js';
import { recordNames } from './table-names.js';
function isSwept(c) {
    return `(${c.state} = 'completed' OR (NOT ${c.hasSteps} AND (${c.lockedUntil} IS NULL OR ${c.lockedUntil} <= now())))`;
}
export class PostgresSweep {
    constructor(dataSource) {
        this.dataSource = dataSource;
        const { table, columns: c } = recordNames(dataSource);
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
    async sweep(batch, from) {
        const [row] = await queryPrimary(this.dataSource, this.sweepText, [batch, from]);
        return row;
    }
    async beyond(from) {
        const [row] = await queryPrimary(this.dataSource, this.skipText, [from]);
        return row.next;
    }
}
