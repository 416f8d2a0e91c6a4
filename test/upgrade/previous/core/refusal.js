import { IdempotencyError, storeUnavailable } from './errors.js';
export function refusalOf(decision) {
    switch (decision.kind) {
        case 'mismatch':
            return new IdempotencyError('idempotency-key-reused', 'This key was already used with a different request. Use a new key for a new request.');
        case 'in_progress':
            return new IdempotencyError('idempotency-request-in-progress', 'A request with this key is still being processed. Try again later with the same key.', { retryAfterMs: decision.leaseLeftMs });
        case 'incomparable':
            return storeUnavailable(new Error('The record was written by a newer version of the library.'));
        case 'claimable':
            return storeUnavailable();
    }
}
export function replayForbidden() {
    return new IdempotencyError('idempotency-replay-forbidden', 'The request was processed before, and this caller may not be given its response.');
}
export function responseUnavailable(resource, cause) {
    return new IdempotencyError('idempotency-response-unavailable', 'The request was processed, but its response was not kept. It will not be processed again.', { ...(resource !== null && { resource }), ...(cause !== undefined && { cause }) });
}
