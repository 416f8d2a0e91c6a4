import type { Decision } from './decision.js';
import { IdempotencyError, storeUnavailable } from './errors.js';

/** What an attempt is refused with that can neither run nor be given a recording. */
export function refusalOf(decision: Exclude<Decision, { kind: 'replay' }>): IdempotencyError {
  switch (decision.kind) {
    case 'mismatch':
      return new IdempotencyError(
        'idempotency-key-reused',
        'This key was already used with a different request. Use a new key for a new request.',
      );
    case 'in_progress':
      return new IdempotencyError(
        'idempotency-request-in-progress',
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
export function responseUnavailable(resource: string | null, cause?: unknown): IdempotencyError {
  return new IdempotencyError(
    'idempotency-response-unavailable',
    'The request was processed, but its response was not kept. It will not be processed again.',
    { ...(resource !== null && { resource }), ...(cause !== undefined && { cause }) },
  );
}
