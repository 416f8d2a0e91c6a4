import { createHash, randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { useDatabase } from '../wire/database.js';
import { PLATFORMS } from '../wire/wire-app.js';
import { FilesController } from './files.controller.js';
import { type FingerprintApp, type Sent, startFingerprintApp } from './fingerprint-app.js';
import type { Message } from './message.js';
import { UploadsController } from './uploads.controller.js';

const database = useDatabase();

const UPLOAD = '/uploads/read-by-handler';

/** A body of one file, as browsers send it, and the digest of its content. */
function multipart(file: string, { target = UPLOAD, boundary = 'boundary', digest = '' } = {}): Message {
  const head = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n';
  return {
    target,
    headers: [
      ['Content-Type', `multipart/form-data; boundary=${boundary}`],
      ...(digest ? [['Content-Digest', digest] as const] : []),
    ],
    body: `--${boundary}\r\n${head}${file}\r\n--${boundary}--\r\n`,
  };
}

const xml = (body: string, digest?: string): Message => ({
  target: UPLOAD,
  headers: [['Content-Type', 'application/xml'], ...(digest ? [['Content-Digest', digest] as const] : [])],
  body,
});

function digestOf(content: string, algorithm = 'sha-256'): string {
  return `${algorithm}=:${createHash(algorithm.replace('-', '')).update(content).digest('base64')}:`;
}

const nested = (depth: number): Message => ({
  target: '/given/1',
  headers: [['Content-Type', 'application/json']],
  body: '['.repeat(depth) + ']'.repeat(depth),
});

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: FingerprintApp;

  beforeAll(async () => {
    const controllers = [UploadsController, ...(platform === 'express' ? [FilesController] : [])];
    app = await startFingerprintApp({ platform, url: database.url, controllers });
  });

  afterAll(() => app.close());

  async function expectNothingDone({ given }: Sent, key: string): Promise<void> {
    expect(given).toBeUndefined();
    expect(await database.witness.rowsOf(key)).toBe(0);
    expect(await database.witness.recordOf(key)).toBeNull();
  }

  it.each<[what: string, message: Message, status: number, problem: object]>([
    ['a body that nobody has read', xml('<a/>'), 415, { code: 'idempotency-payload-unsupported' }],
    ['a multipart body', multipart('a'), 415, { code: 'idempotency-payload-unsupported' }],
    [
      'a chunked multipart body',
      { ...multipart('a'), framing: 'chunked' },
      415,
      { code: 'idempotency-payload-unsupported' },
    ],
    ['a digest that tells nothing apart', xml('<a/>', 'md5=:AAAA:'), 415, { code: 'idempotency-payload-unsupported' }],
    [
      'a digest that cannot be read',
      xml('<a/>', 'sha-256=abc'),
      400,
      { code: 'idempotency-payload-invalid', reason: 'digest' },
    ],
    ['a digest that is too short', multipart('a', { digest: 'sha-256=:AAAA:' }), 400, { reason: 'digest' }],
    ['a body nested too deep', nested(513), 400, { code: 'idempotency-payload-invalid', reason: 'depth' }],
    ['a body nested much too deep', nested(20_000), 400, { reason: 'depth' }],
  ])('refuses %s, and does nothing', async (_, message, status, problem) => {
    const key = randomUUID();
    const sent = await app.send(message, key);
    expect(sent.response.json()).toMatchObject({ ...problem, status });
    await expectNothingDone(sent, key);
  });

  it('names the remedy where it refuses a multipart body', async () => {
    const { response } = await app.send(multipart('a'), randomUUID());
    expect(response.json().detail).toContain('Content-Digest');
    expect(response.json().detail).toContain('`fingerprint`');
  });

  it('takes a body as deep as is allowed', async () => {
    const key = randomUUID();
    await app.send(nested(512), key);
    expect((await app.send(nested(512), key)).isReplay).toBe(true);
  });

  it('leaves to the application what its own parser refuses, so that the key is free', async () => {
    const key = randomUUID();
    const broken = { ...nested(1), body: '{"a":' };
    const refused = await app.send(broken, key);
    expect(refused.response.status).toBe(400);
    expect(refused.response.json().code).toBeUndefined();
    await expectNothingDone(refused, key);
    expect((await app.send({ ...broken, body: '{"a":1}' }, key)).given?.body).toEqual({ a: 1 });
  });

  it.each<[what: string, one: Message, same: Message, other: Message]>([
    [
      'a multipart body, whatever its boundary',
      multipart('a', { digest: digestOf('a') }),
      multipart('a', { digest: digestOf('a'), boundary: 'another' }),
      multipart('b', { digest: digestOf('b') }),
    ],
    [
      'a chunked multipart body',
      { ...multipart('a', { digest: digestOf('a') }), framing: 'chunked' },
      multipart('a', { digest: digestOf('a') }),
      { ...multipart('b', { digest: digestOf('b') }), framing: 'chunked' },
    ],
    [
      'any unread body, by either algorithm',
      xml('<a/>', digestOf('<a/>', 'sha-512')),
      xml('<a/>', `md5=:AAAA:, ${digestOf('<a/>', 'sha-512')}`),
      xml('<b/>', digestOf('<b/>', 'sha-512')),
    ],
    [
      'any unread body, also by one digest more',
      xml('<a/>', digestOf('<a/>')),
      xml('<a/>', `${digestOf('<a/>', 'sha-512')}, ${digestOf('<a/>')}`),
      xml('<a/>', digestOf('<a/>', 'sha-512')),
    ],
  ])('takes the Content-Digest for %s', async (_, one, same, other) => {
    const key = randomUUID();
    const first = await app.send(one, key);
    expect(Buffer.from(first.given?.body as Buffer).toString()).toBe(one.body);
    expect((await app.send(same, key)).isReplay).toBe(true);
    expect((await app.send(other, key)).response.status).toBe(422);
    expect(await database.witness.rowsOf(key)).toBe(1);
  });

  it('takes what a function says for an unread body', async () => {
    const key = randomUUID();
    const named = (name: string, file: string) => multipart(file, { target: `/uploads/named?file=${name}` });
    const first = await app.send(named('a', 'one'), key);
    expect(first.given?.body).toEqual(Buffer.from(named('a', 'one').body as string));
    expect((await app.send(named('a', 'two'), key)).isReplay).toBe(true);
    expect((await app.send(named('b', 'one'), key)).response.status).toBe(422);
    expect(await database.witness.rowsOf(key)).toBe(1);
  });

  if (platform === 'fastify') return;

  it.each(['length', 'chunked'] as const)('leaves a body with a digest for a later parser (%s)', async (framing) => {
    const key = randomUUID();
    const file = 'x'.repeat(200_000);
    const message = { ...multipart(file, { target: '/files', digest: digestOf(file) }), framing };
    expect((await app.send(message, key)).given?.body).toEqual(Buffer.from(file));
    expect((await app.send(message, key)).isReplay).toBe(true);
    expect(await database.witness.rowsOf(key)).toBe(1);
  });

  // Fastify answers these itself: it refuses a chunked body without a media type.
  it('takes a chunked body that turns out to be empty for none', async () => {
    const key = randomUUID();
    const empty = { target: '/given/1', body: '' };
    const first = await app.send({ ...empty, framing: 'chunked' }, key);
    expect(first.given?.body).toBeUndefined();
    expect((await app.send({ ...empty, framing: 'length' }, key)).isReplay).toBe(true);
    expect((await app.send({ target: empty.target }, key)).isReplay).toBe(true);
    expect((await app.send({ ...empty, framing: 'chunked' }, key)).isReplay).toBe(true);
    expect(await database.witness.rowsOf(key)).toBe(1);
  });
});
