import type { Decision } from './decision.js';
import { IdempotencyError, type IdempotencyErrorCode, storeUnavailable } from './errors.js';
import type { Recording } from './recording.js';

type Refusal = Exclude<Decision, { kind: 'replay' }>;

/** The code of what an attempt is refused with. */
export const REFUSAL_CODES = {
  mismatch: 'idempotency-key-reused',
  in_progress: 'idempotency-request-in-progress',
  incomparable: 'idempotency-store-unavailable',
  claimable: 'idempotency-store-unavailable',
} as const satisfies Record<Refusal['kind'], IdempotencyErrorCode>;

/** What an attempt is refused with that can neither run nor be given a recording. */
export function refusalOf(decision: Refusal): IdempotencyError {
  switch (decision.kind) {
    case 'mismatch':
      return new IdempotencyError(
        REFUSAL_CODES.mismatch,
        'This key was already used with a different request. Use a new key for a new request.',
      );
    case 'in_progress':
      return new IdempotencyError(
        REFUSAL_CODES.in_progress,
        'A request with this key is still being processed. Try again later with the same key.',
        { retryAfterMs: decision.leaseLeftMs },
      );
    case 'incomparable':
      return storeUnavailable(new Error('The record was written by a newer version of the library.'));
    case 'claimable':
      return storeUnavailable();
  }
}

export function replayForbidden(): IdempotencyError {
  return new IdempotencyError(
    'idempotency-replay-forbidden',
    'The request was processed before, and this caller may not be given its response.',
  );
}

/** There is a recording, but not of its body. */
export function responseUnavailable({ resource }: Recording, cause?: unknown): IdempotencyError {
  return new IdempotencyError(
    'idempotency-response-unavailable',
    'The request was processed, but its response was not kept. It will not be processed again.',
    { ...(resource !== null && { resource }), ...(cause !== undefined && { cause }) },
  );
}

/**
 * Makes sure that the recording is all there.
 *
 * @throws {IdempotencyError} `idempotency-key-expired` of a tombstone, `idempotency-response-unavailable` where its body
 *   was not kept.
 */
export function assertKept(recording: Recording): void {
  const { omitted, resource } = recording;
  if (omitted === null) return;
  if (omitted !== 'expired') throw responseUnavailable(recording);
  throw new IdempotencyError(
    'idempotency-key-expired',
    'The request was answered long ago, and its response is no longer kept. It will not be processed again. ' +
      'Use a new key for a new request.',
    { ...(resource !== null && { resource }) },
  );
}
