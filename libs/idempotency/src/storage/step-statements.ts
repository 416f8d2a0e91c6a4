import type { IdempotencyRecord } from './entities/idempotency-record.entity.js';
import type { IdempotencyStep } from './entities/idempotency-step.entity.js';
import type { Statement } from './statements.js';
import type { TableNames } from './table-names.js';

export type StepStatements = Readonly<Record<'intend' | 'withdraw' | 'finish' | 'forget' | 'clear', Statement>>;

/**
 * The statements about the outside calls of an operation.
 *
 * In all of them $1, $2, $3 are tenant, endpoint and key, and $4 is the token of the claim. All but `forget` are their
 * own transaction. Those that touch both tables touch the record first: whoever takes the operation over waits for
 * them, or is seen, and no two of them wait for each other.
 */
export function stepStatementsFor(
  { table, columns: c }: TableNames<IdempotencyRecord>,
  { table: steps, columns: s }: TableNames<IdempotencyStep>,
): StepStatements {
  const isOurs = `r.${c.tenant} = $1 AND r.${c.endpoint} = $2 AND r.${c.key} = $3 AND r.${c.token} = $4 AND r.${c.state} = 'in_progress'`;
  const isStep = `s.${s.tenant} = $1 AND s.${s.endpoint} = $2 AND s.${s.key} = $3`;

  /* What is said is acted upon outside the database: it has to be on disk, also where the database is set to be lax. */
  const durably = `
WITH setting AS MATERIALIZED (SELECT CASE WHEN current_setting('synchronous_commit') = 'off'
  THEN set_config('synchronous_commit', 'on', true) ELSE '' END AS done)`;

  /*
   * $5 step, $6 provider key, $7 how long the claim has to outlive this moment. No row: lost.
   *
   * A step that is known is taken up by this claim as well: see `forget`.
   */
  const intend = `${durably}, mine AS (
  UPDATE ${table} AS r SET ${c.hasSteps} = true, ${c.lockedUntil} = greatest(r.${c.lockedUntil}, now() + $7::interval)
  FROM setting WHERE done IS NOT NULL AND ${isOurs} RETURNING r.${c.tenant}, r.${c.endpoint}, r.${c.key})
INSERT INTO ${steps} AS s (${s.tenant}, ${s.endpoint}, ${s.key}, ${s.name}, ${s.providerKey}, ${s.token})
SELECT mine.${c.tenant}, mine.${c.endpoint}, mine.${c.key}, $5, $6, $4::uuid FROM mine
ON CONFLICT (${s.tenant}, ${s.endpoint}, ${s.key}, ${s.name}) DO UPDATE SET ${s.token} = excluded.${s.token},
  ${s.tries} = s.${s.tries} + CASE WHEN s.${s.result} IS NULL THEN 1 ELSE 0 END,
  ${s.intendedAt} = CASE WHEN s.${s.result} IS NULL THEN excluded.${s.intendedAt} ELSE s.${s.intendedAt} END
RETURNING s.${s.providerKey} AS provider_key, s.${s.tries} AS tries, s.${s.result} AS result`;

  /*
   * $5 step. One row: there is no such intent any more, and there will be none without a new one. None: lost.
   *
   * Without steps the operation is one like any other again, which can be released and, some day, forgotten.
   */
  const withdraw = `
WITH mine AS (
  UPDATE ${table} AS r SET ${c.hasSteps} = EXISTS (SELECT FROM ${steps} AS s WHERE ${isStep} AND s.${s.name} <> $5)
  WHERE ${isOurs} RETURNING r.${c.token})
DELETE FROM ${steps} AS s USING mine WHERE ${isStep} AND s.${s.name} = $5 AND s.${s.token} = mine.${c.token} AND s.${s.result} IS NULL`;

  /*
   * $5 step, $6 result. No row: lost.
   *
   * Fenced by the intent alone: what is known of a call is true also when the operation has been lost, and is welcome
   * until somebody else has announced the call. Asked twice, because the first answer was lost, it says the same.
   */
  const finish = `${durably}
UPDATE ${steps} AS s SET ${s.result} = $6, ${s.finishedAt} = statement_timestamp()
FROM setting WHERE done IS NOT NULL AND ${isStep} AND s.${s.name} = $5 AND s.${s.token} = $4::uuid
  AND (s.${s.result} IS NULL OR s.${s.result} = $6)`;

  /*
   * In the transaction of the recording, before it: an operation that uses the key again after retention must not find
   * these results. It locks the record, as the recording does, and like that dies by itself if its client vanishes.
   *
   * A step that this claim has not taken up, or does not know the end of, is not to be forgotten: a handler that goes
   * another way than the attempt before it has no answer that could be recorded. Nothing but an error keeps the
   * transaction from being committed, so it is one that can be read.
   */
  const forget = `
WITH setting AS MATERIALIZED (SELECT set_config('idle_in_transaction_session_timeout', '2s', true) AS done), mine AS MATERIALIZED (
  SELECT r.${c.token} FROM ${table} AS r, setting
  WHERE done IS NOT NULL AND ${isOurs} AND current_setting('idempotency.token', true) = $4::uuid::text FOR NO KEY UPDATE OF r)
DELETE FROM ${steps} AS s USING mine WHERE ${isStep} AND CASE
  WHEN s.${s.token} = mine.${c.token} AND s.${s.result} IS NOT NULL THEN true
  ELSE ('the step ' || s.${s.name} || ' was begun by an earlier attempt, and this one knows nothing of it')::boolean END`;

  /*
   * The release of an operation that leaves something behind, be it steps or the number of its tries. $5 is after how
   * many tries their count starts again, or null; $6 for how long nobody is to claim it, which is not at all, or until
   * a call is over of which nobody knows. One row: this claim's work has not been committed, and never can be.
   */
  const clear = `
WITH setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) || set_config('lock_timeout', '5s', true) AS done)
UPDATE ${table} AS r SET ${c.lockedUntil} = now() + nullif($6::interval, interval '0'), ${c.token} = NULL,
  ${c.attempts} = CASE WHEN r.${c.attempts} >= $5::integer THEN 0 ELSE r.${c.attempts} END
FROM setting WHERE done IS NOT NULL AND ${isOurs}`;

  const named = (name: string, text: string): Statement => ({ name: `idempotency_step_${name}`, text });
  return {
    intend: named('intend', intend),
    withdraw: named('withdraw', withdraw),
    finish: named('finish', finish),
    forget: named('forget', forget),
    clear: named('clear', clear),
  };
}
