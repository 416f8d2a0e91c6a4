export function stepStatementsFor({ table, columns: c }, { table: steps, columns: s }) {
    const isOurs = `r.${c.tenant} = $1 AND r.${c.endpoint} = $2 AND r.${c.key} = $3 AND r.${c.token} = $4 AND r.${c.state} = 'in_progress'`;
    const isStep = `s.${s.tenant} = $1 AND s.${s.endpoint} = $2 AND s.${s.key} = $3`;
    const durably = `
WITH setting AS MATERIALIZED (SELECT CASE WHEN current_setting('synchronous_commit') = 'off'
  THEN set_config('synchronous_commit', 'on', true) ELSE '' END AS done)`;
    const intend = `${durably}, mine AS (
  UPDATE ${table} AS r SET ${c.hasSteps} = true, ${c.lockedUntil} = greatest(r.${c.lockedUntil}, now() + $7::interval)
  FROM setting WHERE done IS NOT NULL AND ${isOurs} RETURNING r.${c.tenant}, r.${c.endpoint}, r.${c.key})
INSERT INTO ${steps} AS s (${s.tenant}, ${s.endpoint}, ${s.key}, ${s.name}, ${s.providerKey}, ${s.token})
SELECT mine.${c.tenant}, mine.${c.endpoint}, mine.${c.key}, $5, $6, $4::uuid FROM mine
ON CONFLICT (${s.tenant}, ${s.endpoint}, ${s.key}, ${s.name}) DO UPDATE SET ${s.token} = excluded.${s.token},
  ${s.tries} = s.${s.tries} + CASE WHEN s.${s.result} IS NULL THEN 1 ELSE 0 END,
  ${s.intendedAt} = CASE WHEN s.${s.result} IS NULL THEN excluded.${s.intendedAt} ELSE s.${s.intendedAt} END
RETURNING s.${s.providerKey} AS provider_key, s.${s.tries} AS tries, s.${s.result} AS result`;
    const withdraw = `
WITH mine AS (
  UPDATE ${table} AS r SET ${c.hasSteps} = EXISTS (SELECT FROM ${steps} AS s WHERE ${isStep} AND s.${s.name} <> $5)
  WHERE ${isOurs} RETURNING r.${c.token})
DELETE FROM ${steps} AS s USING mine WHERE ${isStep} AND s.${s.name} = $5 AND s.${s.token} = mine.${c.token} AND s.${s.result} IS NULL`;
    const finish = `${durably}
UPDATE ${steps} AS s SET ${s.result} = $6, ${s.finishedAt} = statement_timestamp()
FROM setting WHERE done IS NOT NULL AND ${isStep} AND s.${s.name} = $5 AND s.${s.token} = $4::uuid
  AND (s.${s.result} IS NULL OR s.${s.result} = $6)`;
    const forget = `
WITH setting AS MATERIALIZED (SELECT set_config('idle_in_transaction_session_timeout', '2s', true) AS done), mine AS MATERIALIZED (
  SELECT r.${c.token} FROM ${table} AS r, setting
  WHERE done IS NOT NULL AND ${isOurs} AND current_setting('idempotency.token', true) = $4::uuid::text FOR NO KEY UPDATE OF r)
DELETE FROM ${steps} AS s USING mine WHERE ${isStep} AND CASE
  WHEN s.${s.token} = mine.${c.token} AND s.${s.result} IS NOT NULL THEN true
  ELSE ('the step ' || s.${s.name} || ' was begun by an earlier attempt, and this one knows nothing of it')::boolean END`;
    const clear = `
WITH setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) || set_config('lock_timeout', '5s', true) AS done)
UPDATE ${table} AS r SET ${c.lockedUntil} = now() + nullif($6::interval, interval '0'), ${c.token} = NULL,
  ${c.attempts} = CASE WHEN r.${c.attempts} >= $5::integer THEN 0 ELSE r.${c.attempts} END
FROM setting WHERE done IS NOT NULL AND ${isOurs}`;
    const named = (name, text) => ({ name: `idempotency_step_${name}`, text });
    return {
        intend: named('intend', intend),
        withdraw: named('withdraw', withdraw),
        finish: named('finish', finish),
        forget: named('forget', forget),
        clear: named('clear', clear),
    };
}
