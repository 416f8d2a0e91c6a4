import { randomBytes } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { aes256Gcm } from './body-protection.js';

const OLD = randomBytes(32);
const NEW = randomBytes(32);
const OPERATION = { tenant: 'acme', endpoint: 'POST /payments', key: 'a' };

describe('aes256Gcm', () => {
  it('opens a body that was sealed elsewhere by these bytes', async () => {
    const protection = aes256Gcm({ keys: { k: Buffer.alloc(32, 7) }, current: 'k' });
    // Made by another implementation: a nonce of twelve ones, associated data ["acme","POST /payments","a"].
    const sealed = Buffer.from(
      '01010101010101010101010113ac891f450e54d5d103e6d089f20e1e0dc3e0d5f1d1ce34f3939e1349150d',
      'hex',
    );
    expect(Buffer.from(await protection.open({ keyId: 'k', sealed }, OPERATION)).toString()).toBe('{"iban":"GB29"}');
  });

  it('gives back every body as it was, and shows nothing of it at rest', async () => {
    const protection = aes256Gcm({ keys: { k: NEW }, current: 'k' });
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 8, maxLength: 2000 }), async (body) => {
        const { keyId, sealed } = await protection.seal(body, OPERATION);
        expect(keyId).toBe('k');
        expect(Buffer.from(sealed).includes(Buffer.from(body))).toBe(false);
        expect(Buffer.from(await protection.open({ keyId, sealed }, OPERATION))).toEqual(Buffer.from(body));
      }),
    );
  });

  it('never seals alike twice', async () => {
    const protection = aes256Gcm({ keys: { k: NEW }, current: 'k' });
    const seal = async () => (await protection.seal(Buffer.from('same'), OPERATION)).sealed;
    expect(await seal()).not.toEqual(await seal());
  });

  it('reads with an old key what was sealed under it, and seals under the current one', async () => {
    const before = await aes256Gcm({ keys: { old: OLD }, current: 'old' }).seal(Buffer.from('body'), OPERATION);
    const rotated = aes256Gcm({ keys: { old: OLD, new: NEW }, current: 'new' });
    expect(before.keyId).toBe('old');
    expect(Buffer.from(await rotated.open(before, OPERATION)).toString()).toBe('body');
    expect((await rotated.seal(Buffer.from('body'), OPERATION)).keyId).toBe('new');
  });

  it.each<[what: string, operation: Partial<typeof OPERATION>]>([
    ['tenant', { tenant: 'other' }],
    ['endpoint', { endpoint: 'POST /refunds' }],
    ['key', { key: 'b' }],
  ])('does not open the body of another %s', async (_, other) => {
    const protection = aes256Gcm({ keys: { k: NEW }, current: 'k' });
    const sealed = await protection.seal(Buffer.from('body'), OPERATION);
    await expect(async () => protection.open(sealed, { ...OPERATION, ...other })).rejects.toThrow('authenticate');
  });

  it('does not open what was changed, anywhere, or cut off', async () => {
    const protection = aes256Gcm({ keys: { k: NEW }, current: 'k' });
    const { keyId, sealed } = await protection.seal(Buffer.from('body'), OPERATION);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Uint8Array.from(sealed, (byte, index) => (index === at ? byte ^ 1 : byte));
      await expect(async () => protection.open({ keyId, sealed: changed }, OPERATION)).rejects.toThrow();
      await expect(async () => protection.open({ keyId, sealed: sealed.slice(0, at) }, OPERATION)).rejects.toThrow();
    }
  });

  it('names the key that is missing, and shows no key', async () => {
    const { sealed } = await aes256Gcm({ keys: { old: OLD }, current: 'old' }).seal(Buffer.from('body'), OPERATION);
    const protection = aes256Gcm({ keys: { new: NEW }, current: 'new' });
    await expect(async () => protection.open({ keyId: 'old', sealed }, OPERATION)).rejects.toThrow("key 'old'");
  });

  it('takes a key as base64', async () => {
    const sealed = await aes256Gcm({ keys: { k: NEW.toString('base64') }, current: 'k' }).seal(NEW, OPERATION);
    expect(Buffer.from(await aes256Gcm({ keys: { k: NEW }, current: 'k' }).open(sealed, OPERATION))).toEqual(NEW);
  });

  it('refuses keys of another length, and a current key that is not there', () => {
    expect(() => aes256Gcm({ keys: { k: Buffer.alloc(16) }, current: 'k' })).toThrow(
      "key 'k' has 16 bytes; it needs 32",
    );
    expect(() => aes256Gcm({ keys: { k: 'secret' }, current: 'k' })).toThrow('it needs 32');
    expect(() => aes256Gcm({ keys: { k: NEW }, current: 'other' })).toThrow("`current` is 'other', which names no key");
    expect(() => aes256Gcm({ keys: { k: NEW }, current: 'toString' })).toThrow(
      "`current` is 'toString', which names no key",
    );
  });
});
