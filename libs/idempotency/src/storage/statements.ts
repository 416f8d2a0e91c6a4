import type { ClaimTerms, Isolation } from '../core/attempt.js';
import type { IdempotencyRecord } from './entities/idempotency-record.entity.js';
import type { TableNames } from './table-names.js';

/** One statement of the protocol; its name is what a connection prepares it under. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Statements = Readonly<
  Record<'claim' | 'read' | 'record' | 'renew' | 'release' | 'reserve' | 'insert', Statement>
>;

/**
 * The protocol's statements for one table.
 *
 * In all of them $1, $2, $3 are tenant, endpoint and key. Every time is the database's; `now()` is the time of a claim,
 * and used only where the claim is made in the statement's own transaction. Settings are made inside the statement they
 * are for, so that nothing is left behind on a connection that a pooler hands to someone else.
 */
export function statementsFor({ table, columns: c }: TableNames<IdempotencyRecord>): Statements {
  const isOurs = `r.${c.tenant} = $1 AND r.${c.endpoint} = $2 AND r.${c.key} = $3 AND r.${c.token} = $4 AND r.${c.state} = 'in_progress'`;
  const identity = `${c.tenant}, ${c.endpoint}, ${c.key}`;

  /* What a row may be taken over in, where `now` is the time that a claim of it would have. */
  const retainedUntil = `coalesce(r.${c.replaysUntil}, r.${c.expiresAt})`;
  const isClaimable = (now: string) => `(
  (r.${c.state} = 'completed' AND r.${c.expiresAt} <= ${now})
   OR (r.${c.state} = 'in_progress' AND (r.${c.lockedUntil} IS NULL OR r.${c.lockedUntil} <= ${now})
       AND (r.${c.fingerprint} = excluded.${c.fingerprint} OR (${retainedUntil} <= ${now} AND NOT r.${c.hasSteps}))))`;
  const takenOver = (now: string) => `
  ${c.fingerprint} = excluded.${c.fingerprint}, ${c.state} = excluded.${c.state}, ${c.token} = excluded.${c.token},
  ${c.lockedAt} = excluded.${c.lockedAt}, ${c.lockedUntil} = excluded.${c.lockedUntil},
  ${c.expiresAt} = excluded.${c.expiresAt}, ${c.replaysUntil} = excluded.${c.replaysUntil},
  ${c.createdAt} = CASE WHEN ${retainedUntil} <= ${now} THEN excluded.${c.createdAt} ELSE r.${c.createdAt} END,
  ${c.attempts} = CASE WHEN ${retainedUntil} <= ${now} THEN 1 WHEN r.${c.token} = excluded.${c.token} THEN r.${c.attempts} ELSE r.${c.attempts} + 1 END,
  ${c.hasSteps} = r.${c.hasSteps} AND r.${c.state} = 'in_progress',`;
  const forgotten = `
  ${c.completedAt} = NULL, ${c.responseStatus} = NULL, ${c.responseHeaders} = NULL, ${c.responseBody} = NULL,
  ${c.responseOmitted} = NULL, ${c.responseKeyId} = NULL, ${c.resource} = NULL`;

  /*
   * $4 fingerprint, $5 token, $6 lease, $7 and $8 its expiry. One row: ours. None: held.
   *
   * set_config inside VALUES acts on this statement's own transaction: the claim does not wait for the disk, and waits
   * no longer than a quarter second for a completion that is committing (SQLSTATE 55P03).
   */
  const claim = `
INSERT INTO ${table} AS r (${identity}, ${c.fingerprint}, ${c.state}, ${c.token}, ${c.createdAt}, ${c.lockedAt}, ${c.lockedUntil}, ${c.expiresAt}, ${c.replaysUntil})
VALUES ($1, $2, $3, $4,
  CASE WHEN set_config('synchronous_commit', 'off', true) || set_config('lock_timeout', '250ms', true) IS NOT NULL THEN 'in_progress' END,
  $5, now(), now(), now() + $6::interval, now() + $7::interval, now() + $8::interval)
ON CONFLICT (${identity}) DO UPDATE SET ${takenOver(`excluded.${c.createdAt}`)} ${forgotten}
WHERE ${isClaimable(`excluded.${c.createdAt}`)}
RETURNING ${c.attempts} AS attempts, ${c.hasSteps} AS has_steps`;

  const read = `
SELECT ${c.state} AS state, ${c.token} AS token, ${c.fingerprint} AS fingerprint, ${c.attempts} AS attempts, ${c.hasSteps} AS has_steps,
  coalesce(${c.replaysUntil}, ${c.expiresAt}) <= statement_timestamp() AS is_past_retention,
  ${c.expiresAt} <= statement_timestamp() AS is_forgotten,
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

  /* $4 token, $5 lease. No row: lost. The announcement of an outside call may have prolonged it further: that stays. */
  const renew = `
WITH setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) || set_config('lock_timeout', '1s', true) AS done)
UPDATE ${table} AS r SET ${c.lockedUntil} = greatest(r.${c.lockedUntil}, statement_timestamp() + $5::interval)
FROM setting WHERE done IS NOT NULL AND ${isOurs} AND r.${c.lockedUntil} IS NOT NULL`;

  /*
   * $4 token. One row: this claim's work has not been committed, and never can be. Its lock timeout exceeds the idle
   * timeout of the record statement, so that it outlasts a COMMIT that will never come.
   */
  const release = `
WITH setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) || set_config('lock_timeout', '5s', true) AS done)
DELETE FROM ${table} AS r USING setting WHERE done IS NOT NULL AND ${isOurs} AND NOT r.${c.hasSteps}`;

  /*
   * The claim inside the work's own transaction, which has to hold the operation's lock: without it there is no marker.
   * What has steps is left to leases. $4 fingerprint, $5 token, $6 and $7 its expiry. One row: ours. None: held, or no lock.
   */
  const hasLock = `current_setting('idempotency.token', true) = $5::uuid::text`;
  const isInsertable = (now: string) => `${isClaimable(now)} AND (r.${c.state} = 'completed' OR NOT r.${c.hasSteps})`;
  const reserve = `
INSERT INTO ${table} AS r (${identity}, ${c.fingerprint}, ${c.state}, ${c.token}, ${c.createdAt}, ${c.lockedAt}, ${c.expiresAt}, ${c.replaysUntil})
SELECT $1, $2, $3, $4, 'in_progress', $5::uuid, now(), statement_timestamp(), now() + $6::interval, now() + $7::interval
WHERE ${hasLock}
ON CONFLICT (${identity}) DO UPDATE SET ${takenOver(`excluded.${c.lockedAt}`)} ${forgotten}
WHERE ${isInsertable(`excluded.${c.lockedAt}`)}
RETURNING ${c.attempts} AS attempts`;

  /*
   * The whole record at once; $8 to $13 as $5 to $10 of the record statement. Exactly one row, or the claim is lost: to
   * somebody who did not ask for the lock. It takes a reserved row for what it is, and needs no scan to find it, which
   * in a serializable transaction would conflict with everybody's insert.
   */
  const insert = `
INSERT INTO ${table} AS r (${identity}, ${c.fingerprint}, ${c.state}, ${c.token}, ${c.createdAt}, ${c.lockedAt}, ${c.completedAt}, ${c.expiresAt}, ${c.replaysUntil},
  ${c.responseStatus}, ${c.responseHeaders}, ${c.responseBody}, ${c.responseOmitted}, ${c.resource}, ${c.responseKeyId})
SELECT $1, $2, $3, $4, 'completed', $5::uuid, now(), now(), statement_timestamp(), now() + $6::interval, now() + $7::interval, $8, $9, $10, $11, $12, $13
WHERE ${hasLock} AND set_config('idle_in_transaction_session_timeout', '2s', true) IS NOT NULL
ON CONFLICT (${identity}) DO UPDATE SET ${takenOver(`excluded.${c.completedAt}`)}
  ${c.completedAt} = excluded.${c.completedAt}, ${c.responseStatus} = excluded.${c.responseStatus},
  ${c.responseHeaders} = excluded.${c.responseHeaders}, ${c.responseBody} = excluded.${c.responseBody},
  ${c.responseOmitted} = excluded.${c.responseOmitted}, ${c.responseKeyId} = excluded.${c.responseKeyId}, ${c.resource} = excluded.${c.resource}
WHERE r.${c.token} = excluded.${c.token} OR (${isInsertable(`excluded.${c.completedAt}`)})`;

  return named({ claim, read, record, renew, release, reserve, insert });
}

/** Opens the work's transaction: its isolation said, its marker set, and its locks no longer held than its lease. */
export function beginStatement(token: string, leaseMs: number): string {
  return (
    `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idempotency.token = '${token}'; ` +
    `SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(leaseMs)}`
  );
}

export interface LockingBegin {
  readonly isolation: Isolation;
  readonly token: string;
  readonly leaseMs: number;
  /** See `lockOf()`. */
  readonly lock: string;
}

/**
 * The same for a work that is its own claim. One row, and the marker set: the lock is ours. None: somebody has it.
 *
 * It writes nothing yet, so it asks whether it may: the work is not to run in vain where the database only reads. An
 * error alone keeps it from being run, so it is one that can be read.
 */
export function lockingBeginStatement({ isolation, token, leaseMs, lock }: LockingBegin): string {
  return (
    `BEGIN ISOLATION LEVEL ${isolation}; SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(leaseMs)}; ` +
    `SELECT set_config('idempotency.token', '${token}', true) WHERE pg_try_advisory_xact_lock('${lock}'::bigint) ` +
    `AND CASE WHEN current_setting('transaction_read_only') = 'on' THEN ('this database only reads: ' || current_setting('transaction_read_only'))::boolean ` +
    `ELSE true END`
  );
}

/**
 * Opens a transaction that waits until the one that holds the lock is over, for longer than the idle timeout of the
 * statements that record: it outlasts a COMMIT that will never come.
 */
export function awaitingBeginStatement(lock: string, leaseMs: number): string {
  return (
    `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(leaseMs)}; ` +
    `SET LOCAL lock_timeout = '5s'; SELECT pg_advisory_xact_lock('${lock}'::bigint)`
  );
}

/**
 * When a record claimed on these terms may be swept, and until when it is replayed if it is remembered for longer: two
 * parameters of the statements that claim.
 */
export function expiry({ retentionMs, tombstoneMs = 0 }: ClaimTerms): [expires: string, replays: string | null] {
  return [interval(retentionMs + tombstoneMs), tombstoneMs > 0 ? interval(retentionMs) : null];
}

/** A time as text that reads the same under every `DateStyle` and `TimeZone`. */
export function instant(time: string): string {
  return `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** A number of milliseconds as the statements take it. */
export function interval(ms: number): string {
  return `${ms} milliseconds`;
}

function named(texts: Record<keyof Statements, string>): Statements {
  const entries = Object.entries(texts).map(([name, text]) => [name, { name: `idempotency_${name}`, text }]);
  return Object.fromEntries(entries) as Statements;
}
