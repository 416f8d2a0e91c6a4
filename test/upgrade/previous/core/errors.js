export class IdempotencyError extends Error {
    constructor(code, message, details = {}) {
        super(message, 'cause' in details ? { cause: details.cause } : undefined);
        this.code = code;
        this.name = 'IdempotencyError';
        this.reason = details.reason;
        this.retryAfterMs = details.retryAfterMs;
        this.resource = details.resource;
    }
}
export class UnknownTenantError extends Error {
    constructor() {
        super(...arguments);
        this.name = 'UnknownTenantError';
    }
}
export const DEFAULT_RETRY_AFTER_MS = 1_000;
export function storeUnavailable(cause) {
    return new IdempotencyError('idempotency-store-unavailable', 'The idempotency store did not answer, so the request was not processed. Try again with the same key.', { retryAfterMs: DEFAULT_RETRY_AFTER_MS, cause });
}
export function shuttingDown() {
    return new IdempotencyError('idempotency-shutting-down', 'The application is shutting down. Try again with the same key.', { retryAfterMs: DEFAULT_RETRY_AFTER_MS });
}
export function outcomeUnknown(step, cause) {
    return new IdempotencyError('idempotency-outcome-unknown', `It is not known whether ${step === undefined ? 'a step' : `the step '${step}'`} of this operation has happened. ` +
        'Try again later with the same key.', { retryAfterMs: DEFAULT_RETRY_AFTER_MS, cause });
}
export function stepRefused(step, cause) {
    return new IdempotencyError('idempotency-step-refused', `The step '${step}' of this operation was refused.`, {
        cause,
    });
}
export function gaveWay(cause) {
    return new IdempotencyError('idempotency-work-conflict', 'The request had to give way to another one and was undone. Try again with the same key.', { retryAfterMs: DEFAULT_RETRY_AFTER_MS, cause });
}
export function workBroken(message, cause) {
    return new IdempotencyError('idempotency-work-broken', message, { cause });
}
