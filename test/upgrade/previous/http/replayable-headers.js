const RECORDED = new Set([
    'content-type',
    'content-language',
    'content-disposition',
    'content-location',
    'location',
    'etag',
    'last-modified',
    'link',
    'cache-control',
    'retry-after',
]);
const NEVER = new Set([
    'set-cookie',
    'www-authenticate',
    'proxy-authenticate',
    'authentication-info',
    'proxy-authentication-info',
    'date',
    'age',
    'content-length',
    'content-encoding',
    'connection',
    'keep-alive',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'idempotent-replayed',
    'request-id',
    'x-request-id',
    'correlation-id',
    'x-correlation-id',
    'traceparent',
    'tracestate',
    'traceresponse',
    'x-trace-id',
    'x-amzn-trace-id',
    'x-amzn-requestid',
    'x-cloud-trace-context',
    'b3',
    'server-timing',
]);
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const NEVER_PREFIXES = ['x-b3-', 'ratelimit', 'x-ratelimit', 'x-rate-limit'];
export function refusedHeaders(names) {
    return names.filter((name) => !HEADER_NAME.test(name) || isNeverRecorded(name.toLowerCase()));
}
export function recordedHeaders(headers, named) {
    const added = new Set(named.map((name) => name.toLowerCase()));
    return headers.filter(([header]) => {
        const name = header.toLowerCase();
        return RECORDED.has(name) || (added.has(name) && !isNeverRecorded(name));
    });
}
function isNeverRecorded(name) {
    return NEVER.has(name) || NEVER_PREFIXES.some((prefix) => name.startsWith(prefix));
}
