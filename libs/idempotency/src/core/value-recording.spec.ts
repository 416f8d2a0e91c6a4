import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { aes256Gcm } from './body-protection.js';
import type { Recording } from './recording.js';
import { plainData, recordingOfValue, type ValueKeeping, valueOf } from './value-recording.js';

const OPERATION = { tenant: 'acme', endpoint: 'nightly-invoice', key: 'a' };

const keeping = (own: Partial<ValueKeeping> = {}): ValueKeeping => ({
  limitBytes: 1_000,
  isStatusOnly: false,
  protection: undefined,
  ...own,
});

const PROTECTED = keeping({ protection: aes256Gcm({ keys: { k: randomBytes(32) }, current: 'k' }) });

const textOf = ({ body }: Recording): string => Buffer.from(body!).toString();

/** As it lies in a table. */
const kept = (body: string | null, own: Partial<Recording> = {}): Recording => ({
  status: 200,
  headers: [['Content-Type', 'application/json']],
  body: body === null ? null : Buffer.from(body),
  omitted: null,
  resource: null,
  ...own,
});

const unavailable = { code: 'idempotency-response-unavailable' };

describe('the recording of a value', () => {
  it.each<[value: unknown, body: string]>([
    [undefined, '[1,{"$":"undefined"}]'],
    [null, '[1,null]'],
    [{ id: 'ch_1', amount: 500 }, '[1,{"id":"ch_1","amount":500}]'],
    [[new Date(0), 5n], '[1,[{"$":"date","is":0},{"$":"bigint","is":"5"}]]'],
  ])('of %j is this, for good: %s', async (value, body) => {
    const recording = await recordingOfValue(value, keeping(), OPERATION);
    expect({ ...recording, body: textOf(recording) }).toEqual({ ...kept(null), body });
    expect(await valueOf(kept(body), keeping(), OPERATION)).toStrictEqual(value);
  });

  it('gives back the plain data that the first was given, whatever that is', async () => {
    const leaf = fc.oneof(fc.string({ unit: 'binary' }), fc.double(), fc.bigInt(), fc.date(), fc.constant(undefined));
    const value = fc.oneof(leaf, fc.dictionary(fc.string(), leaf), fc.array(leaf));
    await fc.assert(
      fc.asyncProperty(value, async (given) => {
        const recording = await recordingOfValue(given, keeping({ limitBytes: Infinity }), OPERATION);
        expect(await valueOf(recording, keeping(), OPERATION)).toStrictEqual(plainData(given));
      }),
    );
  });

  it('leaves out a value longer than the limit in bytes, and keeps one that just fits', async () => {
    const value = 'é'.repeat(10);
    const limitBytes = Buffer.byteLength(`[1,"${value}"]`);
    const fits = await recordingOfValue(value, keeping({ limitBytes }), OPERATION);
    expect(await valueOf(fits, keeping(), OPERATION)).toBe(value);

    const omitted = await recordingOfValue(value, keeping({ limitBytes: limitBytes - 1 }), OPERATION);
    expect(omitted).toEqual(kept(null, { omitted: 'too_large' }));
    await expect(valueOf(omitted, keeping(), OPERATION)).rejects.toMatchObject(unavailable);
  });

  it('leaves out every value where that is asked for, and gives back undefined', async () => {
    const statusOnly = keeping({ isStatusOnly: true });
    const recording = await recordingOfValue({ secret: 's' }, statusOnly, OPERATION);
    expect(recording).toEqual(kept(null));
    expect(await valueOf(recording, statusOnly, OPERATION)).toBeUndefined();
  });

  it.each([
    ['kept', keeping()],
    ['left out', keeping({ isStatusOnly: true })],
    ['too long', keeping({ limitBytes: 1 })],
  ])('refuses what is no plain data, also where values are %s', async (_, how) => {
    const endless: unknown[] = [];
    endless.push(endless);
    await expect(recordingOfValue(endless, how, OPERATION)).rejects.toThrow(TypeError);
    await expect(recordingOfValue(() => 1, how, OPERATION)).rejects.toThrow(TypeError);
  });

  it('is encrypted where it has to be, and names its key', async () => {
    const recording = await recordingOfValue({ iban: 'GB29' }, PROTECTED, OPERATION);
    expect(recording.keyId).toBe('k');
    expect(textOf(recording)).not.toContain('GB29');
    expect(await valueOf(recording, PROTECTED, OPERATION)).toEqual({ iban: 'GB29' });
  });

  it.each<[what: string, how: ValueKeeping, operation: typeof OPERATION]>([
    ['without the means to decrypt it', keeping(), OPERATION],
    ['for another operation', PROTECTED, { ...OPERATION, key: 'b' }],
    ['under other keys', keeping({ protection: aes256Gcm({ keys: { k: randomBytes(32) }, current: 'k' }) }), OPERATION],
  ])('that is encrypted is not given out %s', async (_, how, operation) => {
    const recording = await recordingOfValue({ iban: 'GB29' }, PROTECTED, OPERATION);
    await expect(valueOf(recording, how, operation)).rejects.toMatchObject(unavailable);
  });

  it('fails where it cannot be encrypted', async () => {
    const broken = keeping({
      protection: { seal: () => Promise.reject(new Error('no key')), open: () => Buffer.of() },
    });
    await expect(recordingOfValue(1, broken, OPERATION)).rejects.toThrow('no key');
  });

  it.each<[what: string, recording: Recording]>([
    ['a later version', kept('[2,{"id":1}]')],
    ['a version that is no number', kept('["1",null]')],
    ['the answer to a request', kept('{"id":1}')],
    ['the answer to a request, a text', kept('"paid"')],
    ['the answer to a request, no JSON', kept('<p>paid</p>')],
    [
      'the answer to a request, whose body was too large',
      kept(null, { omitted: 'too_large', resource: '/payments/1' }),
    ],
    ['the answer to a request, whose client had left', kept(null, { omitted: 'client_left' })],
  ])('of %s is not read as a value', async (_, recording) => {
    await expect(valueOf(recording, keeping(), OPERATION)).rejects.toMatchObject({
      ...unavailable,
      resource: recording.resource ?? undefined,
    });
  });

  it('is undefined for the answer to a request that had no body', async () => {
    expect(await valueOf(kept(null, { status: 204, headers: [] }), keeping(), OPERATION)).toBeUndefined();
  });
});
