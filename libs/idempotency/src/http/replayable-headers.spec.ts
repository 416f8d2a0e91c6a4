import { describe, expect, it } from '@jest/globals';
import type { RecordedHeader } from '../core/recording.js';
import { recordedHeaders, refusedHeaders } from './replayable-headers.js';

const ANSWER: RecordedHeader[] = [
  ['Content-Type', 'application/json'],
  ['Set-Cookie', 'a=1'],
  ['X-Version', '2'],
  ['LINK', '<a>'],
  ['Date', 'then'],
  ['link', '<b>'],
  ['Content-Length', '2'],
  ['Content-Encoding', 'gzip'],
  ['X-Request-Id', '7'],
  ['X-RateLimit-Remaining', '3'],
];

describe('recordedHeaders', () => {
  it('keeps the headers that speak of the content, in order and with their repeats', () => {
    expect(recordedHeaders(ANSWER, [])).toEqual([
      ['Content-Type', 'application/json'],
      ['LINK', '<a>'],
      ['link', '<b>'],
    ]);
  });

  it.each([
    'Content-Type',
    'Content-Language',
    'Content-Disposition',
    'Content-Location',
    'Location',
    'ETag',
    'Last-Modified',
    'Link',
    'Cache-Control',
    'Retry-After',
  ])('keeps %s', (name) => {
    expect(recordedHeaders([[name, 'x']], [])).toEqual([[name, 'x']]);
  });

  it('keeps what the endpoint names, in any case', () => {
    expect(recordedHeaders(ANSWER, ['x-VERSION'])).toContainEqual(['X-Version', '2']);
  });

  it('never keeps what belongs to one exchange, even if named', () => {
    const named = ANSWER.map(([name]) => name);
    expect(recordedHeaders(ANSWER, named).map(([name]) => name)).toEqual(['Content-Type', 'X-Version', 'LINK', 'link']);
  });
});

describe('refusedHeaders', () => {
  it.each([
    'Set-Cookie',
    'WWW-Authenticate',
    'date',
    'Content-Length',
    'Content-Encoding',
    'Connection',
    'Keep-Alive',
    'Transfer-Encoding',
    'Trailer',
    'Upgrade',
    'X-Request-Id',
    'traceparent',
    'X-B3-TraceId',
    'RateLimit',
    'RateLimit-Policy',
    'X-RateLimit-Limit',
    'Idempotent-Replayed',
    'no header',
    '',
  ])('refuses %j', (name) => {
    expect(refusedHeaders(['X-Version', name])).toEqual([name]);
  });

  it('refuses nothing that can be recorded', () => {
    expect(refusedHeaders(['X-Version', 'etag', 'X-Rate'])).toEqual([]);
  });
});
