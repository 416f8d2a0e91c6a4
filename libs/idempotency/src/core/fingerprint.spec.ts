import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { fingerprint, sameFingerprint } from './fingerprint.js';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('fingerprint', () => {
  it.each<[parts: string[], stored: string]>([
    [[], '01e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    [['a', 'bc'], '013fafa1cf2f19a7c1129beb20cf0983f73a489a221fc0dd2f16d1be292d089205'],
  ])('of %j is stored as these bytes', (parts, stored) => {
    expect(hex(fingerprint(parts))).toBe(stored);
  });

  it('differs for every two different lists of parts', () => {
    const parts = fc.array(fc.string({ unit: 'binary' }), { maxLength: 4 });
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const isSame = a.length === b.length && a.every((part, at) => part === b[at]);
        expect(sameFingerprint(fingerprint(a), fingerprint(b))).toBe(isSame);
      }),
    );
  });

  it('does not mistake a part for two', () => {
    expect(sameFingerprint(fingerprint(['ab']), fingerprint(['a', 'b']))).toBe(false);
  });
});
