export function statementsFor({ table, columns: c }) {
    const isOurs = `r.${c.tenant} = $1 AND r.${c.endpoint} = $2 AND r.${c.key} = $3 AND r.${c.token} = $4 AND r.${c.state} = 'in_progress'`;
    const identity = `${c.tenant}, ${c.endpoint}, ${c.key}`;
    const isClaimable = (now) => `(
  (r.${c.state} = 'completed' AND r.${c.expiresAt} <= ${now})
   OR (r.${c.state} = 'in_progress' AND (r.${c.lockedUntil} IS NULL OR r.${c.lockedUntil} <= ${now})
       AND (r.${c.fingerprint} = excluded.${c.fingerprint} OR (r.${c.expiresAt} <= ${now} AND NOT r.${c.hasSteps}))))`;
    const takenOver = (now) => `
  ${c.fingerprint} = excluded.${c.fingerprint}, ${c.state} = excluded.${c.state}, ${c.token} = excluded.${c.token},
  ${c.lockedAt} = excluded.${c.lockedAt}, ${c.lockedUntil} = excluded.${c.lockedUntil}, ${c.expiresAt} = excluded.${c.expiresAt},
  ${c.createdAt} = CASE WHEN r.${c.expiresAt} <= ${now} THEN excluded.${c.createdAt} ELSE r.${c.createdAt} END,
  ${c.attempts} = CASE WHEN r.${c.expiresAt} <= ${now} THEN 1 WHEN r.${c.token} = excluded.${c.token} THEN r.${c.attempts} ELSE r.${c.attempts} + 1 END,
  ${c.hasSteps} = r.${c.hasSteps} AND r.${c.state} = 'in_progress',`;
    const forgotten = `
  ${c.completedAt} = NULL, ${c.responseStatus} = NULL, ${c.responseHeaders} = NULL, ${c.responseBody} = NULL,
  ${c.responseOmitted} = NULL, ${c.responseKeyId} = NULL, ${c.resource} = NULL`;
    const claim = `
INSERT INTO ${table} AS r (${identity}, ${c.fingerprint}, ${c.state}, ${c.token}, ${c.createdAt}, ${c.lockedAt}, ${c.lockedUntil}, ${c.expiresAt})
VALUES ($1, $2, $3, $4,
  CASE WHEN set_config('synchronous_commit', 'off', true) || set_config('lock_timeout', '250ms', true) IS NOT NULL THEN 'in_progress' END,
  $5, now(), now(), now() + $6::interval, now() + $7::interval)
ON CONFLICT (${identity}) DO UPDATE SET ${takenOver(`excluded.${c.createdAt}`)} ${forgotten}
WHERE ${isClaimable(`excluded.${c.createdAt}`)}
RETURNING ${c.attempts} AS attempts, ${c.hasSteps} AS has_steps`;
    const read = `
SELECT ${c.state} AS state, ${c.token} AS token, ${c.fingerprint} AS fingerprint, ${c.attempts} AS attempts, ${c.hasSteps} AS has_steps,
  ${c.expiresAt} <= statement_timestamp() AS is_expired,
  (extract(epoch FROM ${c.lockedUntil} - statement_timestamp()) * 1000)::float8 AS lease_left_ms,
  ${c.responseStatus} AS status, ${c.responseHeaders} AS headers, ${c.responseBody} AS body,
  ${c.responseOmitted} AS omitted, ${c.responseKeyId} AS key_id, ${c.resource} AS resource
FROM ${table} WHERE ${c.tenant} = $1 AND ${c.endpoint} = $2 AND ${c.key} = $3`;
    const record = `
WITH setting AS MATERIALIZED (SELECT set_config('idle_in_transaction_session_timeout', '2s', true) AS done)
UPDATE ${table} AS r SET ${c.state} = 'completed', ${c.completedAt} = statement_timestamp(), ${c.lockedUntil} = NULL,
  ${c.responseStatus} = $5, ${c.responseHeaders} = $6, ${c.responseBody} = $7, ${c.responseOmitted} = $8, ${c.resource} = $9,
  ${c.responseKeyId} = $10
FROM setting WHERE done IS NOT NULL AND ${isOurs} AND current_setting('idempotency.token', true) = $4::uuid::text`;
    const renew = `
WITH setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) || set_config('lock_timeout', '1s', true) AS done)
UPDATE ${table} AS r SET ${c.lockedUntil} = greatest(r.${c.lockedUntil}, statement_timestamp() + $5::interval)
FROM setting WHERE done IS NOT NULL AND ${isOurs} AND r.${c.lockedUntil} IS NOT NULL`;
    const release = `
WITH setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) || set_config('lock_timeout', '5s', true) AS done)
DELETE FROM ${table} AS r USING setting WHERE done IS NOT NULL AND ${isOurs} AND NOT r.${c.hasSteps}`;
    const hasLock = `current_setting('idempotency.token', true) = $5::uuid::text`;
    const isInsertable = (now) => `${isClaimable(now)} AND (r.${c.state} = 'completed' OR NOT r.${c.hasSteps})`;
    const reserve = `
INSERT INTO ${table} AS r (${identity}, ${c.fingerprint}, ${c.state}, ${c.token}, ${c.createdAt}, ${c.lockedAt}, ${c.expiresAt})
SELECT $1, $2, $3, $4, 'in_progress', $5::uuid, now(), statement_timestamp(), now() + $6::interval
WHERE ${hasLock}
ON CONFLICT (${identity}) DO UPDATE SET ${takenOver(`excluded.${c.lockedAt}`)} ${forgotten}
WHERE ${isInsertable(`excluded.${c.lockedAt}`)}
RETURNING ${c.attempts} AS attempts`;
    const insert = `
INSERT INTO ${table} AS r (${identity}, ${c.fingerprint}, ${c.state}, ${c.token}, ${c.createdAt}, ${c.lockedAt}, ${c.completedAt}, ${c.expiresAt},
  ${c.responseStatus}, ${c.responseHeaders}, ${c.responseBody}, ${c.responseOmitted}, ${c.resource}, ${c.responseKeyId})
SELECT $1, $2, $3, $4, 'completed', $5::uuid, now(), now(), statement_timestamp(), now() + $6::interval, $7, $8, $9, $10, $11, $12
WHERE ${hasLock} AND set_config('idle_in_transaction_session_timeout', '2s', true) IS NOT NULL
ON CONFLICT (${identity}) DO UPDATE SET ${takenOver(`excluded.${c.completedAt}`)}
  ${c.completedAt} = excluded.${c.completedAt}, ${c.responseStatus} = excluded.${c.responseStatus},
  ${c.responseHeaders} = excluded.${c.responseHeaders}, ${c.responseBody} = excluded.${c.responseBody},
  ${c.responseOmitted} = excluded.${c.responseOmitted}, ${c.responseKeyId} = excluded.${c.responseKeyId}, ${c.resource} = excluded.${c.resource}
WHERE r.${c.token} = excluded.${c.token} OR (${isInsertable(`excluded.${c.completedAt}`)})`;
    return named({ claim, read, record, renew, release, reserve, insert });
}
export function beginStatement(token, leaseMs) {
    return (`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idempotency.token = '${token}'; ` +
        `SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(leaseMs)}`);
}
export function lockingBeginStatement({ isolation, token, leaseMs, lock }) {
    return (`BEGIN ISOLATION LEVEL ${isolation}; SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(leaseMs)}; ` +
        `SELECT set_config('idempotency.token', '${token}', true) WHERE pg_try_advisory_xact_lock('${lock}'::bigint)`);
}
export function awaitingBeginStatement(lock, leaseMs) {
    return (`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(leaseMs)}; ` +
        `SET LOCAL lock_timeout = '5s'; SELECT pg_advisory_xact_lock('${lock}'::bigint)`);
}
export function interval(ms) {
    return `${ms} milliseconds`;
}
function named(texts) {
    const entries = Object.entries(texts).map(([name, text]) => [name, { name: `idempotency_${name}`, text }]);
    return Object.fromEntries(entries);
}
