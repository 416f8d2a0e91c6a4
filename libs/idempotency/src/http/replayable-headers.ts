import type { RecordedHeader } from '../core/recording.js';

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

/** Headers that belong to one exchange, to one connection or to one caller, and so never to a recording. */
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

/** Those of the names an endpoint gives that are never recorded, such as `Set-Cookie`, or that name no header at all. */
export function refusedHeaders(names: readonly string[]): string[] {
  return names.filter((name) => !HEADER_NAME.test(name) || isNeverRecorded(name.toLowerCase()));
}

/** The lines of an answer that are recorded, in their order: the usual headers and those in `named`, in any case. */
export function recordedHeaders(headers: readonly RecordedHeader[], named: readonly string[]): RecordedHeader[] {
  const added = new Set(named.map((name) => name.toLowerCase()));
  return headers.filter(([header]) => {
    const name = header.toLowerCase();
    return RECORDED.has(name) || (added.has(name) && !isNeverRecorded(name));
  });
}

function isNeverRecorded(name: string): boolean {
  return NEVER.has(name) || NEVER_PREFIXES.some((prefix) => name.startsWith(prefix));
}
