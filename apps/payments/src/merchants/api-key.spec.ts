import { describe, expect, it } from '@jest/globals';
import { bearerToken, hashApiKey } from './api-key.js';

describe('bearerToken', () => {
  it.each([
    ['Bearer sk_demo_acme', 'sk_demo_acme'],
    ['bearer sk_demo_acme', 'sk_demo_acme'],
    ['Bearer   sk_demo_acme ', 'sk_demo_acme'],
    ['Basic sk_demo_acme', undefined],
    ['Bearer', undefined],
    ['Bearer two keys', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads %j as %j', (authorization, token) => {
    expect(bearerToken(authorization)).toBe(token);
  });
});

describe('hashApiKey', () => {
  it('is the SHA-256 of the key, in hex', () => {
    expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
