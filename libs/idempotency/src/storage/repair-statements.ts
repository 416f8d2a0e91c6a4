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

/** What an operation is to whoever looks at it from beside. */
export const RECORD_STATES = ['in_progress', 'abandoned', 'unknown', 'completed', 'expired'] as const;

/**
 * - `in_progress`: claimed, under a live lease
 * - `abandoned`: begun, and nobody is at work on it: the next retry takes it up
 * - `unknown`: abandoned, with an outside call of which nobody knows whether it has happened
 * - `completed`: recorded, and replayed to every retry
 * - `expired`: recorded, and past its retention; its key may be remembered as used for longer
 */
export type RecordState = (typeof RECORD_STATES)[number];

export interface Listing {
  /** `abandoned` takes in `unknown`; all of them where it is absent. */
  readonly state?: RecordState | undefined;
  readonly order: 'newest' | 'oldest';
}

export type RepairStatements = Readonly<Record<'read' | 'steps' | 'release' | 'expire', string>> & {
  readonly list: (listing: Listing) => string;
};

export function repairStatementsFor(records: RecordTable, stepTable: StepTable): RepairStatements {
  const { table, columns: c } = records;
  const { table: steps, columns: s } = stepTable;

  /* The tombstone of a recording has no time of its own at which it ended. */
  const endedAt = `CASE WHEN r.${c.responseOmitted} = 'expired' THEN r.${c.completedAt} ELSE coalesce(r.${c.replaysUntil}, r.${c.expiresAt}) END`;
  const isExpired = `${endedAt} <= now()`;
  const isLive = `(r.${c.lockedUntil} IS NOT NULL AND r.${c.lockedUntil} > now())`;
  const isUnknown = `(r.${c.hasSteps} AND EXISTS (
  SELECT FROM ${steps} AS s WHERE s.${s.tenant} = r.${c.tenant} AND s.${s.endpoint} = r.${c.endpoint}
    AND s.${s.key} = r.${c.key} AND s.${s.result} IS NULL))`;
  const is: Record<RecordState, string> = {
    in_progress: `r.${c.state} = 'in_progress' AND ${isLive}`,
    abandoned: `r.${c.state} = 'in_progress' AND NOT ${isLive}`,
    unknown: `r.${c.state} = 'in_progress' AND NOT ${isLive} AND ${isUnknown}`,
    completed: `r.${c.state} = 'completed' AND NOT ${isExpired}`,
    expired: `r.${c.state} = 'completed' AND ${isExpired}`,
  };
  const state = `CASE WHEN ${is.expired} THEN 'expired' WHEN ${is.completed} THEN 'completed'
  WHEN ${is.in_progress} THEN 'in_progress' WHEN ${is.unknown} THEN 'unknown' ELSE 'abandoned' END`;
  /* Since when it has been what it is. */
  const since = `coalesce(CASE WHEN ${is.expired} THEN ${endedAt} WHEN ${is.completed} THEN r.${c.completedAt}
  WHEN ${is.in_progress} THEN r.${c.lockedAt} ELSE coalesce(r.${c.lockedUntil}, r.${c.lockedAt}) END, r.${c.createdAt})`;
  const seconds = (interval: string): string => `extract(epoch FROM ${interval})::float8`;
  const summary = `r.${c.tenant} AS tenant, r.${c.endpoint} AS endpoint, r.${c.key} AS key, ${state} AS state,
  ${seconds(`now() - ${since}`)} AS "ageSeconds", r.${c.attempts} AS attempts, r.${c.token} AS token, r.${c.hasSteps} AS "hasSteps",
  ${seconds(`r.${c.lockedUntil} - now()`)} AS "leaseLeftSeconds", r.${c.createdAt} AS "createdAt", r.${c.lockedAt} AS "lockedAt",
  r.${c.lockedUntil} AS "lockedUntil", r.${c.completedAt} AS "completedAt", r.${c.replaysUntil} AS "replaysUntil",
  r.${c.expiresAt} AS "expiresAt", r.${c.expiresAt} <= now() AS "isForgotten"`;
  /* As `operationHash()`. */
  const hash = `left(encode(sha256(convert_to('[' || to_json(r.${c.tenant}) || ',' || to_json(r.${c.endpoint}) || ',' ||
    to_json(r.${c.key}) || ']', 'UTF8')), 'hex'), 16)`;

  /*
   * $1 tenant, $2 endpoint, $3 least age, $4 hash, each null where it does not matter; $5 how many.
   *
   * No index has the state. Those that are not completed are few and have to be looked for; of those that are, the
   * index by expiry gives the first ones without looking at all.
   */
  const list = ({ state, order }: Listing): string => `
SELECT ${summary}
FROM ${table} AS r
WHERE ($1::text IS NULL OR r.${c.tenant} = $1) AND ($2::text IS NULL OR r.${c.endpoint} = $2)
  AND ($3::interval IS NULL OR ${since} <= now() - $3::interval) AND ($4::text IS NULL OR ${hash} = $4)
  ${state === undefined ? '' : `AND ${is[state]}`}
ORDER BY ${state === undefined || state === 'completed' || state === 'expired' ? `r.${c.expiresAt}` : since} ${order === 'newest' ? 'DESC' : 'ASC'}
LIMIT $5`;

  /* $4 whether the body is wanted. */
  const read = `
SELECT ${summary}, r.${c.responseStatus} AS status, r.${c.responseHeaders} AS headers, octet_length(r.${c.responseBody}) AS "bodyBytes",
  CASE WHEN $4::boolean THEN r.${c.responseBody} END AS body, r.${c.responseOmitted} AS omitted, r.${c.responseKeyId} AS "keyId",
  r.${c.resource} AS resource
FROM ${table} AS r WHERE ${isOperation(records)}`;

  const stepsOf = `
SELECT s.${s.name} AS name, s.${s.providerKey} AS "providerKey", s.${s.tries} AS tries, s.${s.result} AS result,
  s.${s.intendedAt} AS "intendedAt", s.${s.finishedAt} AS "finishedAt"
FROM ${steps} AS s WHERE s.${s.tenant} = $1 AND s.${s.endpoint} = $2 AND s.${s.key} = $3 ORDER BY s.${s.intendedAt}, s.${s.name}`;

  /*
   * $6 whether a live lease is no reason to leave it. The row stays, with what is known of outside calls and of tries;
   * without its token the worker that holds it, if it lives, loses at its recording.
   */
  const release = `
WITH ${CAREFULLY}, released AS (
  UPDATE ${table} AS r SET ${c.token} = NULL, ${c.lockedUntil} = NULL
  FROM setting WHERE done IS NOT NULL AND ${isAsSeen(records)} AND ($6::boolean OR NOT ${isHeld(records)}) RETURNING true)
SELECT true AS released FROM released`;

  const expire = `
WITH ${CAREFULLY}, expired AS (
  UPDATE ${table} AS r SET ${c.expiresAt} = statement_timestamp(), ${c.replaysUntil} = NULL
  FROM setting WHERE done IS NOT NULL AND ${isOperation(records)} AND r.${c.state} = 'completed'
    AND r.${c.token} IS NOT DISTINCT FROM $4::uuid AND r.${c.attempts} = $5 AND r.${c.expiresAt} > statement_timestamp() RETURNING true)
SELECT true AS expired FROM expired`;

  return { list, read, steps: stepsOf, release, expire };
}
