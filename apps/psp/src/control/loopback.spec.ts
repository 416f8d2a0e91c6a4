import { describe, expect, it } from '@jest/globals';
import { isLoopback } from './loopback.js';

describe('isLoopback', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.8.9.10', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['10.0.0.1', false],
    ['::ffff:10.0.0.1', false],
    ['1127.0.0.1', false],
    ['127.0.0.1.example', false],
    ['fe80::1', false],
    ['', false],
    [undefined, false],
  ])('of %j is %j', (address, is) => {
    expect(isLoopback(address)).toBe(is);
  });
});
