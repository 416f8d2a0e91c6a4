import { DEFAULT_RETRY_AFTER_MS, UnknownTenantError } from '../core/errors.js';
const IN_PROGRESS_RETRY_MS = 5_000;
const SHORTEST_RETRY_MS = 100;
const OUTCOME_UNKNOWN_RETRY_MS = 30_000;
const FIRST_FAILURE_RETRY_MS = 1_000;
const LONGEST_FAILURE_RETRY_MS = 60_000;
export function settlementOf(handled, maxTries) {
    switch (handled.kind) {
        case 'executed':
        case 'replayed':
            return { kind: 'acknowledge', outcome: handled };
        case 'failed': {
            const { error, tries } = handled;
            if (tries >= maxTries)
                return { kind: 'park', reason: 'failed_too_often', error };
            return { kind: 'retry', afterMs: failurePauseMs(tries), error };
        }
        case 'refused':
            return refusedSettlement(handled.error);
    }
}
function refusedSettlement(error) {
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
            return error.cause instanceof UnknownTenantError
                ? { kind: 'park', reason: 'unscoped', error }
                : { kind: 'retry', afterMs: IN_PROGRESS_RETRY_MS, error };
        case 'idempotency-response-unavailable':
            return { kind: 'acknowledge', outcome: { kind: 'replayed_without_value', error } };
        case 'idempotency-request-in-progress':
            return { kind: 'retry', afterMs: clamp(error.retryAfterMs ?? 0), error };
        case 'idempotency-outcome-unknown':
            return { kind: 'retry', afterMs: OUTCOME_UNKNOWN_RETRY_MS, error };
        default:
            return { kind: 'retry', afterMs: error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS, error };
    }
}
function clamp(ms) {
    return Math.min(Math.max(ms, SHORTEST_RETRY_MS), IN_PROGRESS_RETRY_MS);
}
function failurePauseMs(tries) {
    const longest = Math.min(FIRST_FAILURE_RETRY_MS * 2 ** (tries - 1), LONGEST_FAILURE_RETRY_MS);
    return longest * (0.5 + Math.random() / 2);
}
