import { describe, expect, it } from '@jest/globals';

import { type IdempotencyError } from '../core/errors.js';
import { keyFromHeaders } from './key-header.js';

function outcome(...rawHeaders: string[]): string | undefined {
  try {
    return keyFromHeaders(rawHeaders, 'Idempotency-Key');
  } catch (error) {
    const { code, reason } = error as IdempotencyError;
    return `${code} ${reason}`;
  }
}

const refused = (reason: string) => `idempotency-key-invalid ${reason}`;

describe('keyFromHeaders', () => {
  it.each<[value: string, expected: string]>([
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['abc', 'abc'],
    ['"abc"', 'abc'],
    ['ABC', 'ABC'],
    ['order_8231:capture', 'order_8231:capture'],
    ['a/b+c==', 'a/b+c=='],
    ['"a, b"', 'a, b'],
    ['"say \\"hi\\" \\\\"', 'say "hi" \\'],
    [' abc ', 'abc'],
    ['"abc";v=1', 'abc'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
    ['', refused('empty')],
    ['   ', refused('empty')],
    ['""', refused('empty')],
    ['"  "', refused('empty')],
    ['x'.repeat(256), refused('too_long')],
    [`"${'x'.repeat(256)}"`, refused('too_long')],
    ['a, b', refused('syntax')],
    ['a,b', refused('syntax')],
    ['a b', refused('syntax')],
    ['"a", "b"', refused('syntax')],
    ['"abc', refused('syntax')],
    ['abc"', refused('syntax')],
    ['"a"b', refused('syntax')],
    ['"a\\x"', refused('syntax')],
    ['caf\u00e9', refused('charset')],
    ['"caf\u00e9"', refused('charset')],
    ['a\tb', refused('charset')],
    ['a\u007fb', refused('charset')],
  ])('%j: %s', (value, expected) => {
    expect(outcome('Idempotency-Key', value)).toBe(expected);
  });

  it('finds the header in any case, among others', () => {
    expect(outcome('Host', 'x', 'iDEMPOTENCY-kEY', 'abc', 'Accept', '*/*')).toBe('abc');
  });

  it('knows nothing of a header that is not there', () => {
    expect(outcome('X-Idempotency-Key', 'abc')).toBeUndefined();
  });

  it('refuses a second header, even an equal one', () => {
    expect(outcome('Idempotency-Key', 'abc', 'idempotency-key', 'abc')).toBe(refused('multiple'));
  });

  it('never repeats the key in its message', () => {
    for (const key of ['secret"', 's\u00e9cret', 'secret,secret', 'secret'.repeat(50)]) {
      expect(() => keyFromHeaders(['Idempotency-Key', key], 'Idempotency-Key')).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('secret') }),
      );
    }
  });
});
