import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { useDatabase } from './database.js';
import { eventually } from './gate.js';
import { GatedController } from './gated.controller.js';
import { PAYMENT } from './payloads.js';
import { bytesOf, dial, exchange, readToEnd, type Response, responsesIn } from './socket.js';
import { type Platform, PLATFORMS, startWireApp, type WireApp } from './wire-app.js';

const database = useDatabase();

/** Registers the library's own interceptor a second time, and lets large bodies in. */
function configure(app: INestApplication, platform: Platform): void {
  const [ours] = app
    .get(ApplicationConfig)
    .getGlobalInterceptors()
    .filter(({ constructor }) => constructor.name === 'IdempotencyInterceptor');
  app.useGlobalInterceptors(ours!);
  if (platform === 'express') (app as NestExpressApplication).useBodyParser('json', { limit: '2mb' });
}

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: WireApp;

  beforeAll(async () => {
    app = await startWireApp({
      platform,
      url: database.url,
      controllers: [GatedController],
      configure: (nest) => configure(nest, platform),
    });
  });

  afterAll(() => app.close());

  const sessionOf = ({ headers }: Response): string =>
    headers
      .map(([, value]) => value)
      .find((value) => value.startsWith('sid='))!
      .split(';')[0]!;

  it('stores the session of a first request before it is answered, and of a replay where middleware does it', async () => {
    const run = randomUUID();
    const first = await app.send({ path: '/answers/json', key: run, body: { run } });
    const headers = { Cookie: sessionOf(first) };
    const afterFirst = await app.send({ method: 'GET', path: '/visits', headers });
    const replay = await app.send({ path: '/answers/json', key: run, body: { run }, headers });
    const afterReplay = await app.send({ method: 'GET', path: '/visits', headers });
    expect(replay.header('Idempotent-Replayed')).toBe('true');
    expect(afterFirst.json()).toEqual({ visits: 2 });
    // Fastify stores sessions in a hook that a replay passes by, as the compression does.
    expect(afterReplay.json()).toEqual({ visits: platform === 'express' ? 4 : 3 });
  });

  it('compresses for the client that asks, records the plain bytes, and replays them to one that does not', async () => {
    const run = randomUUID();
    const request = { path: '/answers/large', key: run, body: { run } };
    const first = await app.send({ ...request, headers: { 'Accept-Encoding': 'gzip' } });
    expect(first.header('Content-Encoding')).toBe('gzip');
    const replay = await app.send(request);
    expect(replay.header('Idempotent-Replayed')).toBe('true');
    expect(replay.header('Content-Encoding')).toBeUndefined();
    expect(replay.payload.equals(first.body())).toBe(true);
    const [row] = await database.witness.query('SELECT response_body AS body FROM idempotency_records WHERE key = $1', [
      run,
    ]);
    expect(row!.body).toEqual(first.body());
  });

  it.each([
    ['a first answer and its replay', '/answers/json', [201, 201]],
    ['a refusal and its replay', '/answers/bad-request', [400, 400]],
    ['a failure and its second try', '/answers/thrown-error', [500, 500]],
    ['an answer without a body', '/answers/no-content', [204, 204]],
    ['a stream', '/answers/file-stream', [201, 201]],
    ['what the library says itself', '/answers/oversized-text', [201, 409]],
  ])('has %s logged once each, with the status and the length that were sent', async (_, path, statuses) => {
    const run = randomUUID();
    const url = `${path}?run=${run}`;
    const answers = [
      await app.send({ path: url, key: run, body: { run } }),
      await app.send({ path: url, key: run, body: { run } }),
    ];
    const logged = () => app.log.filter((line) => line.url === url);
    await eventually('both are logged', () => logged().length >= 2);
    expect(logged().map(({ status }) => status)).toEqual(statuses);
    expect(answers.map(({ status }) => status)).toEqual(statuses);
    const lengths = answers.map((answer) => answer.header('Content-Length') ?? '-');
    if (platform === 'express') expect(logged().map(({ length }) => length)).toEqual(lengths);
  });

  it('lets every patch over the response see each answer once', async () => {
    const run = randomUUID();
    for (let tries = 0; tries < 2; tries++) {
      const answer = await app.send({ path: '/answers/json', key: run, body: { run } });
      for (const name of ['X-Served-By', 'X-Request-Id', 'Date', 'Content-Length', 'Content-Type']) {
        expect(answer.headers.filter(([other]) => other.toLowerCase() === name.toLowerCase())).toHaveLength(1);
      }
    }
  });

  it('answers requests that were sent one behind the other on one connection in their order', async () => {
    const runs = Array.from({ length: 6 }, () => randomUUID());
    const paths = ['json', 'bad-request', 'file-stream', 'no-content', 'thrown-error', 'text'];
    const requests = runs.map((run, at) => bytesOf({ path: `/answers/${paths[at]}`, key: run, body: { run } }));
    const last = bytesOf({ method: 'GET', path: '/after', headers: { Connection: 'close' } });
    const responses = responsesIn(await exchange(app.port, requests.join('') + last));
    expect(responses.map(({ status }) => status)).toEqual([201, 400, 201, 204, 500, 201, 200]);
    const rows = await Promise.all(runs.map((run) => database.witness.rowsOf(run)));
    expect(rows).toEqual([1, 0, 1, 1, 0, 1]);
  });

  it('runs a request once that was sent twice, one behind the other, on one connection', async () => {
    const run = randomUUID();
    const request = bytesOf({ path: '/answers/json', key: run, body: { run } });
    const last = bytesOf({ method: 'GET', path: '/after', headers: { Connection: 'close' } });
    const [...answers] = responsesIn(await exchange(app.port, request + request + last));
    expect(answers).toHaveLength(3);
    for (const { status } of answers.slice(0, 2)) expect([201, 409]).toContain(status);
    expect(await database.witness.rowsOf(run)).toBe(1);
    expect(app.ledger.entriesOf(run)).toBe(1);
  });

  it('answers a first request and its replay on a connection that is kept', async () => {
    const run = randomUUID();
    const socket = await dial(app.port);
    const received: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    const responses = () => responsesIn(Buffer.concat(received)).filter(({ isWhole }) => isWhole);
    for (const count of [1, 2, 3]) {
      socket.write(bytesOf({ path: '/answers/json', key: run, body: { run } }));
      await eventually(`answer ${count} is there`, () => received.length > 0 && responses().length === count);
    }
    socket.destroy();
    expect(responses().map((response) => response.header('Idempotent-Replayed'))).toEqual([undefined, 'true', 'true']);
    expect(responses().map((response) => response.json())).toEqual([PAYMENT, PAYMENT, PAYMENT]);
  });

  it.each(['GET', 'HEAD', 'OPTIONS'])('lets %s pass by, with or without a key', async (method) => {
    const key = randomUUID();
    const headers = { Origin: 'https://shop.test', 'Access-Control-Request-Method': 'PUT' };
    for (const own of [{ key }, { key }, {}]) {
      const answer = await app.send({ method, path: '/gated/any-method', headers, ...own });
      expect(answer.status).toBeLessThan(300);
      expect(answer.header('Idempotent-Replayed')).toBeUndefined();
      if (method === 'GET') expect(answer.json()).toEqual({ isActive: false });
    }
    expect(await database.witness.recordOf(key)).toBeNull();
  });

  it('protects the other methods of the same handler', async () => {
    const key = randomUUID();
    const answer = await app.send({ method: 'PUT', path: '/gated/any-method', key, body: {} });
    expect(answer.json()).toEqual({ isActive: true });
    expect(await database.witness.recordOf(key)).toMatchObject({ state: 'completed' });
  });

  it('takes a large upload, and tells another one apart that differs in its last byte', async () => {
    const run = randomUUID();
    const body = (end: string) => ({ run, text: 'x'.repeat(800_000) + end });
    expect((await app.send({ path: '/answers/json', key: run, body: body('a') })).status).toBe(201);
    const replay = await app.send({ path: '/answers/json', key: run, body: body('a') });
    expect(replay.header('Idempotent-Replayed')).toBe('true');
    const other = await app.send({ path: '/answers/json', key: run, body: body('b') });
    expect(other.status).toBe(422);
    expect(await database.witness.rowsOf(run)).toBe(1);
  });

  it('asks a client that waits for it to go on, for a first request and for a retry', async () => {
    const run = randomUUID();
    for (const isReplayed of [undefined, 'true']) {
      const headers = { Connection: 'close', Expect: '100-continue' };
      const [head, body] = bytesOf({ path: '/answers/json', key: run, body: { run }, headers }).split('\r\n\r\n');
      const socket = await dial(app.port);
      socket.write(`${head}\r\n\r\n`);
      const [interim] = (await once(socket, 'data')) as [Buffer];
      expect(interim.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
      socket.write(body!);
      const [answer] = responsesIn(await readToEnd(socket));
      expect(answer!.status).toBe(201);
      expect(answer!.header('Idempotent-Replayed')).toBe(isReplayed);
    }
    expect(await database.witness.rowsOf(run)).toBe(1);
  });

  it('runs the handler once although the interceptor was registered twice', async () => {
    const run = randomUUID();
    const answer = await app.send({ path: '/answers/json', key: run, body: { run } });
    expect(answer.status).toBe(201);
    expect(app.ledger.entriesOf(run)).toBe(1);
    expect(await database.witness.rowsOf(run)).toBe(1);
    const replay = await app.send({ path: '/answers/json', key: run, body: { run } });
    expect(replay.header('Idempotent-Replayed')).toBe('true');
    expect(app.ledger.entriesOf(run)).toBe(1);
  });
});
