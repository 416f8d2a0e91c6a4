const NOT_NOW = new Set([401, 403, 429]);
const UNDECIDED = new Set([408, 409, 424, 425]);
const CONNECTING = new Set(['connect', 'getaddrinfo']);
const NEVER_CONNECTED = 'UND_ERR_CONNECT_TIMEOUT';
const MAX_CAUSES = 5;
export function failureOfStatus(status) {
    if (NOT_NOW.has(status))
        return 'no_effect';
    return status >= 400 && status < 500 && !UNDECIDED.has(status) ? 'refused' : 'unknown';
}
export function failureOf(error) {
    let at = error;
    for (let depth = 0; depth <= MAX_CAUSES && typeof at === 'object' && at !== null; depth++) {
        const { status, statusCode, response, cause } = at;
        const found = [status, statusCode, response?.status].find((value) => typeof value === 'number');
        if (found !== undefined)
            return failureOfStatus(found);
        if (wasNeverSent(at))
            return 'no_effect';
        at = cause;
    }
    return 'unknown';
}
function wasNeverSent(error) {
    const { code, syscall, errors } = error;
    if (CONNECTING.has(syscall) || code === NEVER_CONNECTED)
        return true;
    if (!(error instanceof AggregateError) || !Array.isArray(errors) || errors.length === 0)
        return false;
    return errors.every((one) => typeof one === 'object' && one !== null && wasNeverSent(one));
}
