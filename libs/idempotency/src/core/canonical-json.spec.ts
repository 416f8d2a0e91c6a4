import { isDeepStrictEqual } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { canonicalJson, MAX_DEPTH } from './canonical-json.js';
import { IdempotencyError } from './errors.js';

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

describe('canonicalJson', () => {
  it.each<[json: string, canonical: string]>([
    ['{"b":1,"a":[1.0,1e2,"\\u00e9"]}', '{"a":[1,100,"é"],"b":1}'],
    ['{"amount":4999}', '{"amount":4999}'],
    ['null', 'null'],
    ['""', '""'],
    ['-0', '0'],
    ['{"__proto__":{"a":1},"a":2}', '{"__proto__":{"a":1},"a":2}'],
    ['{"toJSON":1,"a":2}', '{"a":2,"toJSON":1}'],
    ['9007199254740993', '9007199254740992'],
    ['{"\\ud83d\\ude00":1,"\\ufb33":2}', '{"😀":1,"\ufb33":2}'],
    ['[1e400]', '[null]\0$/"0"=Infinity'],
    ['[-1e400]', '[null]\0$/"0"=-Infinity'],
    ['1e400', 'null\0$=Infinity'],
  ])('writes %s as %s', (json, canonical) => {
    expect(canonicalJson(JSON.parse(json))).toBe(canonical);
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
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.jsonValue(), (a, b) => {
        const [left, right] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))] as [unknown, unknown];
        expect(canonicalJson(left) === canonicalJson(right)).toBe(isDeepStrictEqual(left, right));
      }),
    );
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
