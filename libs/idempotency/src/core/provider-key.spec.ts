import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { providerKey, uuidOf } from './provider-key.js';

const SECRET = 'a secret of sixteen';
const OPERATION = { tenant: 'acme', endpoint: 'POST /charges', key: 'key-1' };
const FINGERPRINT = Uint8Array.of(1, ...Array<number>(32).fill(2));
const KEY = '75e3f5ff64169a8d8b2ef71a29da732af914baa08c95319290b07a493b95eed6';

describe('a provider key', () => {
  // Worked out by `openssl dgst -sha256 -hmac` over the parts, each after its length in eight bytes.
  it('is the HMAC of what is called, in every version of the library', () => {
    expect(providerKey(SECRET, OPERATION, FINGERPRINT, 'charge')).toBe(KEY);
    const odd = { tenant: '', endpoint: 'ünter', key: '' };
    expect(providerKey('zwölf Boxkämpfer', odd, new Uint8Array(), '')).toBe(
      '6d99176ba8e1094c48c51aa844e8b92f8406174a3020e15f2c7998cb4c35352b',
    );
  });

  it.each([
    ['tenant', providerKey(SECRET, { ...OPERATION, tenant: 'other' }, FINGERPRINT, 'charge')],
    ['endpoint', providerKey(SECRET, { ...OPERATION, endpoint: 'POST /refunds' }, FINGERPRINT, 'charge')],
    ['key', providerKey(SECRET, { ...OPERATION, key: 'key-2' }, FINGERPRINT, 'charge')],
    ['payload', providerKey(SECRET, OPERATION, Uint8Array.of(...FINGERPRINT.slice(0, -1), 3), 'charge')],
    ['step', providerKey(SECRET, OPERATION, FINGERPRINT, 'refund')],
    ['secret', providerKey('another secret, longer', OPERATION, FINGERPRINT, 'charge')],
    ['split', providerKey(SECRET, { ...OPERATION, tenant: 'acm', endpoint: 'ePOST /charges' }, FINGERPRINT, 'charge')],
  ])('is another one for another %s', (_, other) => {
    expect(other).toMatch(/^[0-9a-f]{64}$/);
    expect(other).not.toBe(KEY);
  });

  it('is never the same for two different calls, wherever their parts begin and end', () => {
    const parts = fc.tuple(fc.string(), fc.string(), fc.string(), fc.uint8Array(), fc.string());
    const keyOf = ([tenant, endpoint, key, fingerprint, step]: [string, string, string, Uint8Array, string]) =>
      providerKey(SECRET, { tenant, endpoint, key }, fingerprint, step);
    const bytesOf = (call: [string, string, string, Uint8Array, string]) =>
      JSON.stringify(call.map((part) => Buffer.from(part as string).toString('hex')));
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        expect(keyOf(one) === keyOf(other)).toBe(bytesOf(one) === bytesOf(other));
      }),
    );
  });
});

describe('a provider key as a UUID', () => {
  it('is its first bits, in every version of the library', () => {
    expect(uuidOf(KEY)).toBe('75e3f5ff-6416-8a8d-8b2e-f71a29da732a');
  });

  it('is one of version 8 (RFC 9562), whatever the key', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const uuid = uuidOf(Buffer.from(bytes).toString('hex'));
        expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }),
    );
  });
});
