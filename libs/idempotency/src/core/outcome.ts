import { IdempotencyError, type IdempotencyErrorCode } from './errors.js';

/**
 * The way by which an attempt came.
 *
 * - `http`: a request
 * - `message`: a delivered message, also one that is handed to `IdempotencyService.consume()`
 * - `service`: `IdempotencyService.run()`
 * - `reconciler`: the library itself, for a client that gave up
 */
export type Channel = 'http' | 'message' | 'service' | 'reconciler';

/** Everything that an attempt can come to; part of the public contract. */
export const OUTCOMES = [
  /** The work is committed, together with its recording. */
  'executed',
  /** The work said no: it is undone, and its answer recorded. */
  'refused_on_record',
  /** There was a recording; it is given back. */
  'replayed',

  /** The operation is in progress elsewhere. */
  'in_progress',
  /** The key was used for another request. */
  'mismatch',
  /** The key was used long ago, and what came of it is no longer kept. */
  'expired',
  /** The record was written by a newer version of the library. */
  'incomparable',
  /** There is a recording, and `authorizeReplay` says that this caller may not have it. */
  'replay_forbidden',
  /** There is a recording, and what it is of was not kept, or cannot be read. */
  'response_unavailable',

  'key_missing',
  'key_invalid',
  'payload_unsupported',
  'payload_invalid',
  /** It could not be found out whose operation it is. */
  'scope_unresolved',
  /** The application's `fingerprint` failed. */
  'fingerprint_failed',
  /** A function of the application (`tenant`, `key`, `fingerprint`, `authorizeReplay`) threw an error of its own. */
  'denied',

  /** The work said no for now (401, 429, …): undone, and not recorded. */
  'refused',
  /** The work failed: undone, and not recorded. */
  'failed',
  /** The handler was not entered, such as for a body that is not valid; its claim is released. */
  'not_entered',
  /** The work had to give way to other transactions. */
  'work_conflict',
  /** The work's transaction cannot be committed because of what was done in it: mostly a mistake in a handler. */
  'work_broken',
  /** Nobody knows whether an outside call has happened. */
  'outcome_unknown',
  /** The reconciler's method cannot tell yet: the operation stays as it is. */
  'undecided',

  /** The claim was taken over by another worker, and the work rolled back. */
  'lost',
  /** Nobody knows whether the work is committed: the claim stays until its lease runs out. */
  'commit_unknown',
  'store_unavailable',
  'shutting_down',

  /** There was no key, and none is required: the handler ran without any protection. */
  'unprotected',
] as const;

export type OutcomeName = (typeof OUTCOMES)[number];

/** What an attempt has come to. */
export interface Ending {
  readonly outcome: OutcomeName;
  /** What its caller was told, where the library has told it. */
  readonly error?: IdempotencyErrorCode;
}

const OUTCOME_OF: Readonly<Record<IdempotencyErrorCode, OutcomeName>> = {
  'idempotency-key-missing': 'key_missing',
  'idempotency-key-invalid': 'key_invalid',
  'idempotency-key-reused': 'mismatch',
  'idempotency-key-expired': 'expired',
  'idempotency-payload-unsupported': 'payload_unsupported',
  'idempotency-payload-invalid': 'payload_invalid',
  'idempotency-replay-forbidden': 'replay_forbidden',
  'idempotency-request-in-progress': 'in_progress',
  'idempotency-response-unavailable': 'response_unavailable',
  'idempotency-outcome-unknown': 'outcome_unknown',
  'idempotency-step-refused': 'refused',
  'idempotency-scope-unresolved': 'scope_unresolved',
  'idempotency-fingerprint-failed': 'fingerprint_failed',
  'idempotency-store-unavailable': 'store_unavailable',
  'idempotency-shutting-down': 'shutting_down',
  'idempotency-work-conflict': 'work_conflict',
  'idempotency-work-broken': 'work_broken',
};

/** What an attempt came to that ended with this error; `otherwise` is said of one that is not the library's. */
export function endingOf(error: unknown, otherwise: OutcomeName): Ending {
  if (!(error instanceof IdempotencyError)) return { outcome: otherwise };
  return { outcome: OUTCOME_OF[error.code], error: error.code };
}
