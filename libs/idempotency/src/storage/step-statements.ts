import type { IdempotencyRecord } from './entities/idempotency-record.entity.js';
import type { IdempotencyStep } from './entities/idempotency-step.entity.js';
import type { Statement } from './statements.js';
import type { TableNames } from './table-names.js';

export type StepStatements = Readonly<Record<'intend' | 'withdraw' | 'finish' | 'forget' | 'clear', Statement>>;

/**
 * The statements about the outside calls of an operation.
 *
 * In all of them $1, $2, $3 are tenant, endpoint and key, and $4 is the token of the claim. All but `forget` are their
 * own transaction, and durable: what they say is acted upon outside the database.
 */
export function stepStatementsFor(
  { table, columns: c }: TableNames<IdempotencyRecord>,
  { table: steps, columns: s }: TableNames<IdempotencyStep>,
): StepStatements {
  const isOurs = `r.${c.tenant} = $1 AND r.${c.endpoint} = $2 AND r.${c.key} = $3 AND r.${c.token} = $4 AND r.${c.state} = 'in_progress'`;
  const isStep = `s.${s.tenant} = $1 AND s.${s.endpoint} = $2 AND s.${s.key} = $3`;

  /*
   * $5 step, $6 provider key, $7 how long the claim has to outlive this moment. No row: lost.
   *
   * The record is touched first: whoever takes the operation over waits for it, or is seen.
   */
  const intend = `
WITH mine AS (
  UPDATE ${table} AS r SET ${c.hasSteps} = true, ${c.lockedUntil} = greatest(r.${c.lockedUntil}, now() + $7::interval)
  WHERE ${isOurs} RETURNING r.${c.tenant}, r.${c.endpoint}, r.${c.key})
INSERT INTO ${steps} AS s (${s.tenant}, ${s.endpoint}, ${s.key}, ${s.name}, ${s.providerKey}, ${s.token})
SELECT mine.${c.tenant}, mine.${c.endpoint}, mine.${c.key}, $5, $6, $4::uuid FROM mine
ON CONFLICT (${s.tenant}, ${s.endpoint}, ${s.key}, ${s.name}) DO UPDATE SET ${s.token} = excluded.${s.token},
  ${s.tries} = s.${s.tries} + CASE WHEN s.${s.result} IS NULL THEN 1 ELSE 0 END
RETURNING s.${s.providerKey} AS provider_key, s.${s.tries} AS tries, s.${s.result} AS result`;

  /* $5 step. One row: there is no such intent any more, and there will be none without a new one. None: lost. */
  const withdraw = `DELETE FROM ${steps} AS s WHERE ${isStep} AND s.${s.name} = $5 AND s.${s.token} = $4::uuid AND s.${s.result} IS NULL`;

  /* $5 step, $6 result. No row: lost. */
  const finish = `
UPDATE ${steps} AS s SET ${s.result} = $6, ${s.finishedAt} = statement_timestamp()
WHERE ${isStep} AND s.${s.name} = $5 AND s.${s.token} = $4::uuid AND s.${s.result} IS NULL`;

  /*
   * In the transaction of the recording, before it: an operation that uses the key again after retention must not find
   * these results.
   */
  const forget = `DELETE FROM ${steps} AS s WHERE ${isStep} AND current_setting('idempotency.token', true) = $4::uuid::text`;

  /*
   * The release of an operation with steps: claimable at once, nothing forgotten. One row: this claim's work has not
   * been committed, and never can be.
   */
  const clear = `
WITH setting AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) || set_config('lock_timeout', '5s', true) AS done)
UPDATE ${table} AS r SET ${c.lockedUntil} = NULL, ${c.token} = NULL FROM setting WHERE done IS NOT NULL AND ${isOurs}`;

  const named = (name: string, text: string): Statement => ({ name: `idempotency_step_${name}`, text });
  return {
    intend: named('intend', intend),
    withdraw: named('withdraw', withdraw),
    finish: named('finish', finish),
    forget: named('forget', forget),
    clear: named('clear', clear),
  };
}
