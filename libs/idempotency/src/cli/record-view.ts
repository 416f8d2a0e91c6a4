import { operationHash } from '../core/operation-hash.js';
import { uuidOf } from '../core/provider-key.js';
import type { RecordSummary, StepDetail } from '../storage/postgres-repair.js';
import type { RecordState } from '../storage/repair-statements.js';
import { columns, printable, spoken, table, time } from './output.js';

/** How much of a token is shown: enough to tell two claims apart, not enough to be one. */
const TOKEN_DIGITS = 8;

const MEANINGS: Record<RecordState, string> = {
  in_progress: 'a worker holds it, under a live lease',
  abandoned: 'begun, and nobody is at work on it; the next retry takes it up at once',
  unknown: 'nobody knows whether an outside call of it has happened; a retry goes by its whenUnknown',
  completed: 'its answer is recorded; every retry gets it',
  expired: 'past its retention; the next request with its key is a new operation',
};

const REMEMBERED = 'past its retention; its key is remembered as used, and requests with it are refused';

export interface RecordViewOptions {
  /** The hash alone, in place of the key. */
  readonly hashKeys?: boolean | undefined;
}

/** A record as `--json` shows it. */
export function recordDocument(record: RecordSummary, { hashKeys = false }: RecordViewOptions = {}) {
  const { tenant, endpoint, key, state, ageSeconds, attempts, token, hasSteps, leaseLeftSeconds } = record;
  const { createdAt, lockedAt, lockedUntil, completedAt, replaysUntil, expiresAt } = record;
  return {
    tenant,
    endpoint,
    ...(!hashKeys && { key }),
    hash: operationHash(record),
    state,
    ageSeconds,
    attempts,
    token: shortened(token),
    hasSteps,
    leaseLeftSeconds,
    createdAt,
    lockedAt,
    lockedUntil,
    completedAt,
    replaysUntil,
    expiresAt,
  };
}

/** Records as people read them. */
export function recordTable(records: readonly RecordSummary[], { hashKeys = false }: RecordViewOptions): string {
  return table(
    ['STATE', 'FOR', 'ATTEMPTS', 'TOKEN', 'TENANT', 'ENDPOINT', hashKeys ? 'HASH' : 'KEY'],
    records.map((record) => [
      record.state,
      spoken(record.ageSeconds),
      String(record.attempts),
      shortened(record.token) ?? '-',
      printable(record.tenant),
      printable(record.endpoint),
      hashKeys ? operationHash(record) : printable(record.key),
    ]),
  );
}

/** One record as people read it, a line each. */
export function recordLines(record: RecordSummary): string[] {
  const { tenant, endpoint, key, state, ageSeconds, attempts, token, isForgotten } = record;
  const { createdAt, lockedAt, completedAt, replaysUntil, expiresAt } = record;
  const meaning = state === 'expired' && !isForgotten ? REMEMBERED : MEANINGS[state];
  return columns([
    ['tenant', printable(tenant)],
    ['endpoint', printable(endpoint)],
    ['key', printable(key)],
    ['hash', operationHash(record)],
    ['state', `${state}, for ${spoken(ageSeconds)}: ${meaning}`],
    ['attempts', String(attempts)],
    ['token', shortened(token) ?? 'none: it was let go'],
    ['lease', leaseText(record)],
    ['created', time(createdAt)],
    ['claimed', timeOrNone(lockedAt)],
    ['completed', timeOrNone(completedAt)],
    ['replayed', `until ${time(replaysUntil ?? expiresAt)}`],
    ['remembered', `until ${time(expiresAt)}`],
  ]);
}

function timeOrNone(date: Date | null): string {
  return date === null ? '-' : time(date);
}

function leaseText({ state, leaseLeftSeconds }: RecordSummary): string {
  if (state === 'completed' || state === 'expired' || leaseLeftSeconds === null) return 'none';
  return leaseLeftSeconds > 0 ? `${spoken(leaseLeftSeconds)} left` : `ran out ${spoken(-leaseLeftSeconds)} ago`;
}

export interface StepViewOptions {
  readonly results?: boolean | undefined;
}

/** A step as `--json` shows it; the result as it is kept. */
export function stepDocument(step: StepDetail, { results = false }: StepViewOptions) {
  const { name, tries, providerKey, intendedAt, finishedAt, result } = step;
  return {
    name,
    tries,
    outcome: outcomeOf(step),
    providerKey,
    providerUuid: uuidOf(providerKey),
    intendedAt,
    finishedAt,
    ...(results && { result: result === null ? null : (JSON.parse(result) as unknown[])[2] }),
  };
}

/** Steps as people read them, a line each. */
export function stepLines(steps: readonly StepDetail[], { results = false }: StepViewOptions): string[] {
  return steps.flatMap((step) => [
    `step ${printable(step.name)}: ${outcomeOf(step)}, announced ${times(step.tries)}, last at ${time(step.intendedAt)}`,
    `  provider key  ${step.providerKey}`,
    `  as a UUID     ${uuidOf(step.providerKey)}`,
    ...(results && step.result !== null ? [`  result        ${printable(step.result)}`] : []),
  ]);
}

/** `unknown`, or what is on record, as the library writes it in front of each result. */
function outcomeOf({ result }: StepDetail): string {
  return result === null ? 'unknown' : (/^\[\d+,"(\w+)"/.exec(result)?.[1] ?? 'unreadable');
}

function shortened(token: string | null): string | null {
  return token?.slice(0, TOKEN_DIGITS) ?? null;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
