import type { IdempotencyRecord } from './entities/idempotency-record.entity.js';
import type { TableNames } from './table-names.js';

/** One statement of the protocol; its name is what a connection prepares it under. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Statements = Readonly<Record<'claim' | 'read' | 'record' | 'renew' | 'release', Statement>>;

/**
 * The protocol's statements for one table.
 *
 * In all of them $1, $2, $3 are tenant, endpoint and key. Every time is the database's; `now()` is used only where the
 * statement is its own transaction. Settings are made inside the statement they are for, so that nothing is left behind
 * on a connection that a pooler hands to someone else.
 */
export function statementsFor({ table, columns: c }: TableNames<IdempotencyRecord>): Statements {
  const isOurs = `r.${c.tenant} = $1 AND r.${c.endpoint} = $2 AND r.${c.key} = $3 AND r.${c.token} = $4 AND r.${c.state} = 'in_progress'`;

  /*
   * $4 fingerprint, $5 token, $6 lease, $7 retention. One row: ours. None: held.
   *
   * set_config inside VALUES acts on this statement's own transaction: the claim does not wait for the disk, and waits
   * no longer than a quarter second for a completion that is committing (SQLSTATE 55P03).
   */
  const claim = `
INSERT INTO ${table} AS r (${c.tenant}, ${c.endpoint}, ${c.key}, ${c.fingerprint}, ${c.state}, ${c.token}, ${c.createdAt}, ${c.lockedAt}, ${c.lockedUntil}, ${c.expiresAt})
VALUES ($1, $2, $3, $4,
  CASE WHEN set_config('synchronous_commit', 'off', true) || set_config('lock_timeout', '250ms', true) IS NOT NULL THEN 'in_progress' END,
  $5, now(), now(), now() + $6::interval, now() + $7::interval)
ON CONFLICT (${c.tenant}, ${c.endpoint}, ${c.key}) DO UPDATE SET
  ${c.fingerprint} = excluded.${c.fingerprint}, ${c.state} = excluded.${c.state}, ${c.token} = excluded.${c.token},
  ${c.lockedAt} = excluded.${c.lockedAt}, ${c.lockedUntil} = excluded.${c.lockedUntil}, ${c.expiresAt} = excluded.${c.expiresAt},
  ${c.createdAt} = CASE WHEN r.${c.expiresAt} <= excluded.${c.createdAt} THEN excluded.${c.createdAt} ELSE r.${c.createdAt} END,
  ${c.attempts} = CASE WHEN r.${c.expiresAt} <= excluded.${c.createdAt} THEN 1 ELSE r.${c.attempts} + 1 END,
  ${c.hasSteps} = r.${c.hasSteps} AND r.${c.state} = 'in_progress',
  ${c.completedAt} = NULL, ${c.responseStatus} = NULL, ${c.responseHeaders} = NULL, ${c.responseBody} = NULL,
  ${c.responseOmitted} = NULL, ${c.responseKeyId} = NULL, ${c.resource} = NULL
WHERE (r.${c.state} = 'completed' AND r.${c.expiresAt} <= excluded.${c.createdAt})
   OR (r.${c.state} = 'in_progress' AND (r.${c.lockedUntil} IS NULL OR r.${c.lockedUntil} <= excluded.${c.createdAt})
       AND (r.${c.fingerprint} = excluded.${c.fingerprint} OR (r.${c.expiresAt} <= excluded.${c.createdAt} AND NOT r.${c.hasSteps})))
RETURNING ${c.attempts} AS attempts`;

  const read = `
SELECT ${c.state} AS state, ${c.token} AS token, ${c.fingerprint} AS fingerprint, ${c.hasSteps} AS has_steps,
  ${c.expiresAt} <= statement_timestamp() AS is_expired,
  (extract(epoch FROM ${c.lockedUntil} - statement_timestamp()) * 1000)::float8 AS lease_left_ms,
  ${c.responseStatus} AS status, ${c.responseHeaders} AS headers, ${c.responseBody} AS body,
  ${c.responseOmitted} AS omitted, ${c.responseKeyId} AS key_id, ${c.resource} AS resource
FROM ${table} WHERE ${c.tenant} = $1 AND ${c.endpoint} = $2 AND ${c.key} = $3`;

  /*
   * $4 token, $5 status, $6 headers, $7 body, $8 omitted, $9 resource, $10 key id. Exactly one row, or the claim is lost.
   *
   * The marker proves that this runs inside the transaction that was begun for the claim. The idle timeout lets a
   * transaction whose client vanished between here and COMMIT die by itself.
   */
  const record = `
WITH setting AS MATERIALIZED (SELECT set_config('idle_in_transaction_session_timeout', '2s', true) AS done)
UPDATE ${table} AS r SET ${c.state} = 'completed', ${c.completedAt} = statement_timestamp(), ${c.lockedUntil} = NULL,
  ${c.responseStatus} = $5, ${c.responseHeaders} = $6, ${c.responseBody} = $7, ${c.responseOmitted} = $8, ${c.resource} = $9,
  ${c.responseKeyId} = $10
FROM setting WHERE done IS NOT NULL AND ${isOurs} AND current_setting('idempotency.token', true) = $4::uuid::text`;

  /* $4 token, $5 lease. No row: lost. */
  const renew = `
WITH setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) || set_config('lock_timeout', '1s', true) AS done)
UPDATE ${table} AS r SET ${c.lockedUntil} = statement_timestamp() + $5::interval
FROM setting WHERE done IS NOT NULL AND ${isOurs} AND r.${c.lockedUntil} IS NOT NULL`;

  /*
   * $4 token. One row: this claim's work has not been committed, and never can be. Its lock timeout exceeds the idle
   * timeout of the record statement, so that it outlasts a COMMIT that will never come.
   */
  const release = `
WITH setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) || set_config('lock_timeout', '5s', true) AS done)
DELETE FROM ${table} AS r USING setting WHERE done IS NOT NULL AND ${isOurs} AND NOT r.${c.hasSteps}`;

  return named({ claim, read, record, renew, release });
}

/** Opens the work's transaction: its isolation said, its marker set, and its locks no longer held than its lease. */
export function beginStatement(token: string, leaseMs: number): string {
  return (
    `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idempotency.token = '${token}'; ` +
    `SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(leaseMs)}`
  );
}

/** A number of milliseconds as the statements take it. */
export function interval(ms: number): string {
  return `${ms} milliseconds`;
}

function named(texts: Record<keyof Statements, string>): Statements {
  const entries = Object.entries(texts).map(([name, text]) => [name, { name: `idempotency_${name}`, text }]);
  return Object.fromEntries(entries) as Statements;
}
