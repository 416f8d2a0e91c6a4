import { describe, expect, it } from '@jest/globals';
import { fromBigint } from './minor-units.js';

describe('fromBigint', () => {
  it.each([
    ['0', 0],
    ['-4999', -4999],
    ['9007199254740991', 9007199254740991],
  ])('reads %s', (stored, amount) => {
    expect(fromBigint(stored)).toBe(amount);
  });

  it('refuses a number that would be read wrong', () => {
    expect(() => fromBigint('9007199254740993')).toThrow(RangeError);
  });
});
