export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';
export const DEFAULT_PROBLEM_TYPE_BASE = 'urn:problem-type:';
export const DEFAULT_MISMATCH_STATUS = 422;
const MAX_RETRY_AFTER = 60;
const KINDS = {
    'idempotency-key-missing': [400, 'Idempotency key missing', false],
    'idempotency-key-invalid': [400, 'Idempotency key invalid', false],
    'idempotency-payload-invalid': [400, 'Payload invalid', false],
    'idempotency-replay-forbidden': [403, 'Replay forbidden', false],
    'idempotency-request-in-progress': [409, 'Request in progress', true],
    'idempotency-outcome-unknown': [409, 'Outcome unknown', true],
    'idempotency-response-unavailable': [409, 'Response unavailable', false],
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
export const PROBLEM_CODES = Object.keys(KINDS);
export function problemOf(error, options, instance) {
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
export function problemHeaders(problem, { docsUrl }) {
    const headers = [['Cache-Control', 'no-store']];
    if (problem.retryAfter !== undefined)
        headers.push(['Retry-After', String(problem.retryAfter)]);
    if (problem.code === 'idempotency-key-missing' && docsUrl)
        headers.push(['Link', `<${docsUrl}>; rel="help"`]);
    if (problem.resource !== undefined)
        headers.push(['Link', `<${problem.resource}>; rel="related"`]);
    return headers;
}
function wholeSeconds(ms) {
    return Math.min(Math.max(Math.ceil(ms / 1000), 1), MAX_RETRY_AFTER);
}
