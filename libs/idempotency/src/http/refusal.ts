import type { Decision } from '../core/decision.js';
import { IdempotencyError, storeUnavailable } from '../core/errors.js';

/** What an attempt is refused with that did not get the claim; null where the recording can be replayed. */
export function refusalOf(decision: Decision): IdempotencyError | null {
  switch (decision.kind) {
    case 'replay':
      return decision.recording.omitted === null ? null : responseUnavailable(decision.recording.resource);
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
    case 'claimable':
      return storeUnavailable();
  }
}

export function keyMissing(header: string): IdempotencyError {
  return new IdempotencyError(
    'idempotency-key-missing',
    `This endpoint requires a key for each operation. Send a unique value, such as a UUID, in ${header}.`,
  );
}

function responseUnavailable(resource: string | null): IdempotencyError {
  return new IdempotencyError(
    'idempotency-response-unavailable',
    'The request was processed, but its response was not kept. It will not be processed again.',
    resource === null ? {} : { resource },
  );
}
