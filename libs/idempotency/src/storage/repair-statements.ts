import type { IdempotencyRecord } from './entities/idempotency-record.entity.js';
import type { IdempotencyStep } from './entities/idempotency-step.entity.js';
import type { TableNames } from './table-names.js';

type RecordTable = TableNames<IdempotencyRecord>;
type StepTable = TableNames<IdempotencyStep>;

/*
 * What is done to operations from beside: by operators, or by whoever was told what became of a call.
 *
 * In all of them that name one operation $1, $2, $3 are tenant, endpoint and key. Those that change something name what
 * the row looked like to whoever decided so, $4 the token and $5 the attempt, and return one row for each row that they
 * changed: none, and somebody has come in between.
 */

/* Waits for whoever is just changing the row, and acts durably also where the database is set to be lax. */
const CAREFULLY = `setting AS MATERIALIZED (
  SELECT set_config('lock_timeout', '5s', true) || CASE WHEN current_setting('synchronous_commit') = 'off'
    THEN set_config('synchronous_commit', 'on', true) ELSE '' END AS done)`;

const isOperation = ({ columns: c }: RecordTable): string =>
  `r.${c.tenant} = $1 AND r.${c.endpoint} = $2 AND r.${c.key} = $3`;

/** In progress, as it was when it was looked at. */
const isAsSeen = (records: RecordTable): string => {
  const { columns: c } = records;
  return `${isOperation(records)} AND r.${c.state} = 'in_progress' AND r.${c.token} IS NOT DISTINCT FROM $4::uuid AND r.${c.attempts} = $5`;
};

const isHeld = ({ columns: c }: RecordTable): string =>
  `(r.${c.lockedUntil} IS NOT NULL AND r.${c.lockedUntil} > statement_timestamp())`;

export type OutcomeStatements = Readonly<Record<'find' | 'keep' | 'withdraw', string>>;

/** About one outside call: $4 is its step when it is looked for; $6 is the step and $7 its tries when it is changed. */
export function outcomeStatementsFor(records: RecordTable, { table: steps, columns: s }: StepTable): OutcomeStatements {
  const { table, columns: c } = records;
  const isStep = `s.${s.tenant} = $1 AND s.${s.endpoint} = $2 AND s.${s.key} = $3`;

  const find = `
SELECT r.${c.token} AS token, r.${c.attempts} AS attempts, s.${s.tries} AS tries, ${isHeld(records)} AS is_held,
  s.${s.result} IS NOT NULL AS is_known
FROM ${table} AS r JOIN ${steps} AS s ON ${isStep}
WHERE ${isOperation(records)} AND r.${c.state} = 'in_progress' AND s.${s.name} = $4`;

  /*
   * The record is locked before the step, as by everybody, and both before either is changed. Without its token the
   * claim that made the call can do nothing any more, should its worker still be there.
   */
  const free = (hasSteps: string): string => `
WITH ${CAREFULLY}, seen AS MATERIALIZED (
  SELECT r.${c.token} FROM ${table} AS r, setting
  WHERE done IS NOT NULL AND ${isAsSeen(records)} AND NOT ${isHeld(records)} FOR NO KEY UPDATE OF r
), call AS MATERIALIZED (
  SELECT s.${s.name} AS name FROM ${steps} AS s, seen
  WHERE ${isStep} AND s.${s.name} = $6 AND s.${s.tries} = $7 AND s.${s.result} IS NULL FOR UPDATE OF s
), freed AS (
  UPDATE ${table} AS r SET ${c.token} = NULL, ${c.lockedUntil} = NULL, ${c.hasSteps} = ${hasSteps}
  FROM call WHERE ${isOperation(records)} RETURNING call.name
)`;

  /* $8 result. */
  const keep = `${free('true')}, kept AS (
  UPDATE ${steps} AS s SET ${s.result} = $8, ${s.finishedAt} = statement_timestamp()
  FROM freed WHERE ${isStep} AND s.${s.name} = freed.name RETURNING true)
SELECT true AS kept FROM kept`;

  /* Without steps the operation is one like any other again, which can be released and, some day, forgotten. */
  const withdraw = `${free(`EXISTS (SELECT FROM ${steps} AS s WHERE ${isStep} AND s.${s.name} <> $6)`)}, withdrawn AS (
  DELETE FROM ${steps} AS s USING freed WHERE ${isStep} AND s.${s.name} = freed.name RETURNING true)
SELECT true AS withdrawn FROM withdrawn`;

  return { find, keep, withdraw };
}
