import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { payloadFingerprint } from './payload-fingerprint.js';

const hex = (payload: unknown): string => Buffer.from(payloadFingerprint(payload)).toString('hex');

/** By hand: every part behind its length. */
function written(...parts: (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) {
    const bytes = Buffer.from(part as string);
    hash.update(Buffer.from(bytes.length.toString(16).padStart(16, '0'), 'hex')).update(bytes);
  }
  return `01${hash.digest('hex')}`;
}

describe('the fingerprint of a payload', () => {
  it.each<[what: string, payload: unknown, parts: (string | Uint8Array)[]]>([
    ['JSON', { b: [1, null], a: 'é' }, ['value', 'json', '{"a":"é","b":[1,null]}']],
    ['bytes', Uint8Array.of(0, 255), ['value', 'bytes', Uint8Array.of(0, 255)]],
    ['nothing', undefined, ['value', 'nothing']],
  ])('of %s is kept in this form, for good', (_, payload, parts) => {
    expect(hex(payload)).toBe(written(...parts));
  });

  it('does not know the order of members, nor of which kind an array of bytes is', () => {
    expect(hex({ a: 1, b: { c: 2, d: 3 } })).toBe(hex({ b: { d: 3, c: 2 }, a: 1 }));
    expect(hex(Buffer.from('abc'))).toBe(hex(new Uint8Array([97, 98, 99])));
  });

  it('tells apart what is not the same', () => {
    const payloads = [
      undefined,
      null,
      {},
      [],
      '',
      'nothing',
      'null',
      '{}',
      0,
      -0,
      '0',
      false,
      { a: 1 },
      { a: '1' },
      { a: undefined },
      [1, 2],
      [2, 1],
      [[1], 2],
      Buffer.from(''),
      Buffer.from('{}'),
      Buffer.from('nothing'),
    ];
    expect(new Set(payloads.map(hex)).size).toBe(payloads.length);
  });

  it('is the same for every JSON value that was sent as text between', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const sent = JSON.stringify(value);
        // JSON has no negative zero: as text it is another value.
        fc.pre(!sent.includes('-0') && !hasNegativeZero(value));
        expect(hex(JSON.parse(sent))).toBe(hex(value));
      }),
    );
  });

  it.each<[what: string, payload: unknown]>([
    ['a date', new Date(0)],
    ['a date inside', { at: new Date(0) }],
    ['bytes inside', { data: Buffer.from('a') }],
    ['a Map', new Map([['a', 1]])],
    ['an object of a class', new (class Invoice {})()],
    ['a bigint', 1n],
    ['a function', () => 1],
    ['a symbol inside', [Symbol('s')]],
  ])('is refused for %s', (_, payload) => {
    expect(() => payloadFingerprint(payload)).toThrow(
      expect.objectContaining({ code: 'idempotency-payload-unsupported' }),
    );
  });

  it.each<[what: string, nest: (inner: unknown) => unknown]>([
    ['arrays', (inner) => [inner]],
    ['objects', (inner) => ({ inner })],
  ])('is refused for %s nested too deep', (_, nest) => {
    let payload: unknown = 1;
    for (let depth = 0; depth < 10_000; depth++) payload = nest(payload);
    expect(() => payloadFingerprint(payload)).toThrow(expect.objectContaining({ code: 'idempotency-payload-invalid' }));
  });
});

function hasNegativeZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasNegativeZero);
  return Object.is(value, -0);
}
