import { describe, expect, it } from '@jest/globals';

import { sameFingerprint } from '../core/fingerprint.js';
import { type RequestContent, requestFingerprint } from './payload.js';

const content: RequestContent = {
  method: 'POST',
  pattern: '/payments',
  params: {},
  query: {},
  contentType: 'application/json',
  hasBody: true,
  body: { amount: 4999, currency: 'usd' },
};

const isSame = (change: Partial<RequestContent>) =>
  sameFingerprint(requestFingerprint(content), requestFingerprint({ ...content, ...change }));

describe('requestFingerprint', () => {
  it('is stored as these bytes', () => {
    expect(Buffer.from(requestFingerprint(content)).toString('hex')).toBe(
      '01756068c02c90a896b668953f19eaaadb4e84703dd38d003cd21956978310b9cb',
    );
  });

  it.each<[what: string, change: Partial<RequestContent>]>([
    ['the order of members', { body: { currency: 'usd', amount: 4999 } }],
    ['parameters of the media type', { contentType: 'Application/JSON; charset=utf-8' }],
  ])('does not depend on %s', (_, change) => {
    expect(isSame(change)).toBe(true);
  });

  it.each<[what: string, change: Partial<RequestContent>]>([
    ['the method', { method: 'PUT' }],
    ['the pattern', { pattern: '/refunds' }],
    ['path parameters', { params: { id: '1' } }],
    ['the query', { query: { a: '1' } }],
    ['the media type', { contentType: 'application/merge-patch+json' }],
    ['the body', { body: { amount: 5000, currency: 'usd' } }],
    ['there being a body', { hasBody: false, body: undefined }],
    ['null in place of a body', { body: null }],
    ['an empty object in place of a body', { body: {} }],
    ['text that looks the same', { contentType: 'text/plain', body: '{"amount":4999,"currency":"usd"}' }],
  ])('depends on %s', (_, change) => {
    expect(isSame(change)).toBe(false);
  });

  it('tells no body from an empty object, whatever a parser made of it', () => {
    const none = requestFingerprint({ ...content, hasBody: false, body: {} });
    const alsoNone = requestFingerprint({ ...content, hasBody: false, body: undefined });
    expect(sameFingerprint(none, alsoNone)).toBe(true);
    expect(sameFingerprint(none, requestFingerprint({ ...content, body: {} }))).toBe(false);
  });

  it('keeps the order of repeated query values', () => {
    const inOrder = requestFingerprint({ ...content, query: { tag: ['a', 'b'] } });
    expect(sameFingerprint(inOrder, requestFingerprint({ ...content, query: { tag: ['b', 'a'] } }))).toBe(false);
  });

  it('takes bytes and text as they are', () => {
    const bytes = requestFingerprint({ ...content, contentType: 'application/x-thing', body: Buffer.from('a') });
    const text = requestFingerprint({ ...content, contentType: 'application/x-thing', body: 'a' });
    expect(sameFingerprint(bytes, text)).toBe(true);
  });

  it('refuses a body that nothing has parsed', () => {
    expect(() => requestFingerprint({ ...content, contentType: 'application/xml', body: undefined })).toThrow(
      expect.objectContaining({ code: 'idempotency-payload-unsupported' }),
    );
  });
});
