import type { IdempotencyError, IdempotencyErrorCode } from '../core/errors.js';
import type { RecordedHeader } from '../core/recording.js';

/** An error answer (RFC 9457), with members of our own after `instance`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance?: string;
  readonly code: IdempotencyErrorCode;
  readonly reason?: string;
  /** Whether the same request, sent again later, can succeed. */
  readonly retryable: boolean;
  /** In whole seconds; the same as the `Retry-After` header. */
  readonly retryAfter?: number;
  /** Where the operation's result lives. */
  readonly resource?: string;
}

export interface ProblemOptions {
  /** What `type` begins with; the error's code follows. */
  readonly typeBase: string;
  /** The page that a refusal for a missing key links to. */
  readonly docsUrl?: string | undefined;
  /** The status of `idempotency-key-reused`; {@link DEFAULT_MISMATCH_STATUS} by default. */
  readonly mismatchStatus?: number;
}

/** The Content-Type of a problem (RFC 9457, section 3). */
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export const DEFAULT_PROBLEM_TYPE_BASE = 'urn:problem-type:';

/** Of a key that was used for another request before. */
export const DEFAULT_MISMATCH_STATUS = 422;

/** The longest wait ever asked of a client, in seconds. */
const MAX_RETRY_AFTER = 60;

const KINDS: Record<IdempotencyErrorCode, readonly [status: number, title: string, retryable: boolean]> = {
  'idempotency-key-missing': [400, 'Idempotency key missing', false],
  'idempotency-key-invalid': [400, 'Idempotency key invalid', false],
  'idempotency-payload-invalid': [400, 'Payload invalid', false],
  'idempotency-replay-forbidden': [403, 'Replay forbidden', false],
  'idempotency-request-in-progress': [409, 'Request in progress', true],
  'idempotency-outcome-unknown': [409, 'Outcome unknown', true],
  'idempotency-response-unavailable': [409, 'Response unavailable', false],
  'idempotency-key-expired': [409, 'Idempotency key expired', false],
  'idempotency-payload-unsupported': [415, 'Payload unsupported', false],
  'idempotency-key-reused': [DEFAULT_MISMATCH_STATUS, 'Idempotency key reused', false],
  'idempotency-step-refused': [422, 'Step refused', false],
  'idempotency-scope-unresolved': [500, 'Tenant unresolved', false],
  'idempotency-fingerprint-failed': [500, 'Fingerprint failed', false],
  'idempotency-work-broken': [500, 'Work not committed', true],
  'idempotency-work-conflict': [503, 'Work gave way', true],
  'idempotency-store-unavailable': [503, 'Idempotency store unavailable', true],
  'idempotency-shutting-down': [503, 'Shutting down', true],
};

/** The code of every problem there is. */
export const PROBLEM_CODES = Object.keys(KINDS) as IdempotencyErrorCode[];

/** The problem an error is answered with. `instance` is the request's path. */
export function problemOf(error: IdempotencyError, options: ProblemOptions, instance?: string): Problem {
  const [usualStatus, title, retryable] = KINDS[error.code];
  const { typeBase, mismatchStatus = usualStatus } = options;
  const status = error.code === 'idempotency-key-reused' ? mismatchStatus : usualStatus;
  return {
    type: `${typeBase}${error.code}`,
    title,
    status,
    detail: error.message,
    ...(instance !== undefined && { instance }),
    code: error.code,
    ...(error.reason !== undefined && { reason: error.reason }),
    retryable,
    ...(error.retryAfterMs !== undefined && { retryAfter: wholeSeconds(error.retryAfterMs) }),
    ...(error.resource !== undefined && { resource: error.resource }),
  };
}

/** The header lines that go with a problem, besides its Content-Type. */
export function problemHeaders(problem: Problem, { docsUrl }: ProblemOptions): RecordedHeader[] {
  const headers: RecordedHeader[] = [['Cache-Control', 'no-store']];
  if (problem.retryAfter !== undefined) headers.push(['Retry-After', String(problem.retryAfter)]);
  if (problem.code === 'idempotency-key-missing' && docsUrl) headers.push(['Link', `<${docsUrl}>; rel="help"`]);
  if (problem.resource !== undefined) headers.push(['Link', `<${problem.resource}>; rel="related"`]);
  return headers;
}

/** At least a second, so that nobody hammers; at most a minute, so that nobody is sent away for a whole lease. */
function wholeSeconds(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms / 1000), 1), MAX_RETRY_AFTER);
}
