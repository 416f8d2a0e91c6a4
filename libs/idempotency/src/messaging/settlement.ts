import { DEFAULT_RETRY_AFTER_MS, type IdempotencyError, UnknownTenantError } from '../core/errors.js';

/** What has become of an operation that returns a value. */
export type Handled<Result> =
  | Outcome<Result>
  /** The library has said no, or does not know; its work has not been done here. */
  | { readonly kind: 'refused'; readonly error: IdempotencyError }
  /** The work itself failed, and was undone. `tries` is how often it was begun, by whichever process. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly tries: number };

/** Why a message is put aside for somebody to look at, instead of being delivered again. */
export type ParkReason =
  /** Its id was used before by a message with another payload. */
  | 'mismatch'
  /** It has no id, or none that can be a key. */
  | 'unidentified'
  /** Its payload cannot be compared with that of another delivery. */
  | 'unreadable'
  /** Nobody can tell whose it is. */
  | 'unscoped'
  /** Its work has failed as often as it may. */
  | 'failed_too_often';

/** What is to be done with a delivered message. */
export type Settlement<Result = unknown> =
  /** Its effect is committed, now or long ago: it need not be delivered again. */
  | { readonly kind: 'acknowledge'; readonly outcome: Outcome<Result> | WithoutValue }
  /** It has to be delivered again, and not before `afterMs` milliseconds are over. */
  | { readonly kind: 'retry'; readonly afterMs: number; readonly error: unknown }
  /** No delivery can ever succeed: it goes where somebody looks at it, such as a dead-letter queue. */
  | { readonly kind: 'park'; readonly reason: ParkReason; readonly error: unknown };

/** What a caller is given of an operation that is done: now, or by an earlier call. */
export interface Outcome<Result> {
  readonly kind: 'executed' | 'replayed';
  readonly value: Result;
}

/** It was done before, and its value was too large to keep, is no longer kept, or cannot be read any more. */
export interface WithoutValue {
  readonly kind: 'replayed_without_value';
  /** What someone is told who waits for the value. */
  readonly error: IdempotencyError;
}

/** Looked for this often while another worker is at it, in milliseconds; sooner where its lease ends sooner. */
const IN_PROGRESS_RETRY_MS = 5_000;
const SHORTEST_RETRY_MS = 100;

/** Somebody has to find out: a provider, or a person. In milliseconds. */
const OUTCOME_UNKNOWN_RETRY_MS = 30_000;

/** The pauses after failures: doubling from the first to the longest. */
const FIRST_FAILURE_RETRY_MS = 1_000;
const LONGEST_FAILURE_RETRY_MS = 60_000;

/** What becomes of the message whose operation ended so, where work may be begun `maxTries` times. */
export function settlementOf<Result>(handled: Handled<Result>, maxTries: number): Settlement<Result> {
  switch (handled.kind) {
    case 'executed':
    case 'replayed':
      return { kind: 'acknowledge', outcome: handled };
    case 'failed': {
      const { error, tries } = handled;
      if (tries >= maxTries) return { kind: 'park', reason: 'failed_too_often', error };
      return { kind: 'retry', afterMs: failurePauseMs(tries), error };
    }
    case 'refused':
      return refusedSettlement(handled.error);
  }
}

function refusedSettlement<Result>(error: IdempotencyError): Settlement<Result> {
  switch (error.code) {
    case 'idempotency-key-reused':
      return { kind: 'park', reason: 'mismatch', error };
    case 'idempotency-key-missing':
    case 'idempotency-key-invalid':
      return { kind: 'park', reason: 'unidentified', error };
    case 'idempotency-payload-unsupported':
    case 'idempotency-payload-invalid':
    case 'idempotency-fingerprint-failed':
      return { kind: 'park', reason: 'unreadable', error };
    case 'idempotency-scope-unresolved':
      // A resolver that failed may not fail the next time; one that found nothing will find nothing.
      return error.cause instanceof UnknownTenantError
        ? { kind: 'park', reason: 'unscoped', error }
        : { kind: 'retry', afterMs: IN_PROGRESS_RETRY_MS, error };
    case 'idempotency-response-unavailable':
    case 'idempotency-key-expired':
      return { kind: 'acknowledge', outcome: { kind: 'replayed_without_value', error } };
    case 'idempotency-request-in-progress':
      return { kind: 'retry', afterMs: clamp(error.retryAfterMs ?? 0), error };
    case 'idempotency-outcome-unknown':
      return { kind: 'retry', afterMs: OUTCOME_UNKNOWN_RETRY_MS, error };
    default:
      return { kind: 'retry', afterMs: error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS, error };
  }
}

function clamp(ms: number): number {
  return Math.min(Math.max(ms, SHORTEST_RETRY_MS), IN_PROGRESS_RETRY_MS);
}

/** Of that a random half to whole, so that messages which failed together do not all come back together. */
function failurePauseMs(tries: number): number {
  const longest = Math.min(FIRST_FAILURE_RETRY_MS * 2 ** (tries - 1), LONGEST_FAILURE_RETRY_MS);
  return longest * (0.5 + Math.random() / 2);
}
