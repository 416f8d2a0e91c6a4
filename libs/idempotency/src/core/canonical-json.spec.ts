import { isDeepStrictEqual } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import canonicalizeModule from 'canonicalize';
import fc from 'fast-check';

import { canonicalJson, MAX_DEPTH } from './canonical-json.js';
import { IdempotencyError } from './errors.js';

// Its types speak of an ES default export; what the module exports is the function itself.
const canonicalize = canonicalizeModule as unknown as (value: unknown) => string;

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

/** The same value with every object's members in the opposite order. */
function reversed(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(reversed);
  const pairs = Object.entries(value).reverse();
  return JSON.parse(
    `{${pairs.map(([name, child]) => `${JSON.stringify(name)}:${JSON.stringify(reversed(child))}`).join()}}`,
  );
}

/** Small values that are easily mistaken for each other. */
const { values } = fc.letrec((tie) => ({
  values: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, undefined, 0, -0, 1, Infinity, -Infinity, NaN, '', 'null', '0', '\ud800', '\udbff', true),
    fc.array(tie('values'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '0', '1', '__proto__', 'toJSON'), tie('values'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
}));

describe('canonicalJson', () => {
  it.each<[json: string, canonical: string]>([
    ['{"b":1,"a":[1.0,1e2,"\\u00e9"]}', '{"a":[1,100,"é"],"b":1}'],
    ['{"amount":4999}', '{"amount":4999}'],
    ['null', 'null'],
    ['""', '""'],
    ['0', '0'],
    ['-0', '-0'],
    ['{"a":[-0.0e2,0]}', '{"a":[-0,0]}'],
    ['{"__proto__":{"a":1},"a":2}', '{"__proto__":{"a":1},"a":2}'],
    ['{"toJSON":1,"a":2}', '{"a":2,"toJSON":1}'],
    ['9007199254740993', '9007199254740992'],
    ['{"\\ud83d\\ude00":1,"\\ufb33":2}', '{"😀":1,"\ufb33":2}'],
    ['[1e400]', '[Infinity]'],
    ['{"__proto__":1e400}', '{"__proto__":Infinity}'],
    ['{"b":-1e400,"a":1e400}', '{"a":Infinity,"b":-Infinity}'],
    ['[-1e400]', '[-Infinity]'],
    ['1e400', 'Infinity'],
  ])('writes %s as %s', (json, canonical) => {
    expect(canonicalJson(JSON.parse(json))).toBe(canonical);
  });

  it('is what the reference implementation of RFC 8785 writes', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (json) => {
        const value: unknown = JSON.parse(JSON.stringify(JSON.parse(json)));
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each<[what: string, json: string]>([
    ['under a long name', `{"${'x'.repeat(100_000)}":[${'1e400,'.repeat(10_000)}-0]}`],
    ['far inside', `${'['.repeat(500)}${'-0,'.repeat(10_000)}1${']'.repeat(500)}`],
  ])('is not much longer than the payload, also with what JSON cannot express %s', (_, json) => {
    expect(canonicalJson(JSON.parse(json)).length).toBeLessThan(2 * json.length);
  });

  it('is the same whatever the order of members', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const value: unknown = JSON.parse(json);
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
  });

  it('is equal for equal values only', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        expect(canonicalJson(a) === canonicalJson(b)).toBe(isDeepStrictEqual(a, b));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is equal for equal JSON only', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), fc.json(), (a, b) => {
        const [left, right] = [JSON.parse(a), JSON.parse(b)] as [unknown, unknown];
        expect(canonicalJson(left) === canonicalJson(right)).toBe(isDeepStrictEqual(left, right));
      }),
    );
  });

  it.each<[what: string, value: unknown]>([
    ['a bigint', { a: 1n }],
    ['a function', [() => 1]],
    ['a symbol', Symbol('a')],
    ['a date', { at: new Date(0) }],
    ['a Map', new Map([['a', 1]])],
    ['a Set', new Set([1])],
    ['bytes inside', { file: Buffer.from('a') }],
    ['an object of a class', new (class Money {})()],
    ['a boxed string', new String('a')],
  ])('refuses %s, whose content it cannot see', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(
      expect.objectContaining({ code: 'idempotency-payload-unsupported', reason: 'value' }),
    );
  });

  it('refuses a value that contains itself', () => {
    const value: Record<string, unknown> = {};
    value.again = [value];
    expect(() => canonicalJson(value)).toThrow(expect.objectContaining({ reason: 'depth' }));
  });

  it('takes objects as parsers make them, whatever their prototype', () => {
    function Empty() {}
    Empty.prototype = Object.create(null);
    const instance = new (Empty as unknown as new () => Record<string, unknown>)();
    instance.a = 1;
    for (const value of [Object.assign(Object.create(null), { a: 1 }), instance]) {
      expect(canonicalJson(value)).toBe('{"a":1}');
    }
  });

  it('leaves the value as it was', () => {
    const value = { a: [Infinity, { b: -Infinity }] };
    canonicalJson(value);
    expect(value).toEqual({ a: [Infinity, { b: -Infinity }] });
  });

  it('refuses what is nested too deep, and nothing less', () => {
    expect(() => canonicalJson(nested(MAX_DEPTH))).not.toThrow();
    expect(() => canonicalJson(nested(MAX_DEPTH + 1))).toThrow(IdempotencyError);
    expect(() => canonicalJson(nested(100_000))).toThrow('512 levels');
  });
});
