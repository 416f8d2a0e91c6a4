import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useDatabase } from './database.js';
import { AnswersController } from './answers.controller.js';
import { ExpressAnswersController } from './express-answers.controller.js';
import { FastifyAnswersController } from './fastify-answers.controller.js';
import { normalized } from './normalize.js';
import { type Route, routesOf } from './routes.js';
import { bytesOf, exchange, type Response, responsesIn } from './socket.js';
import { PLATFORMS, startWireApp, type WireApp } from './wire-app.js';

/**
 * The first answers that are not, byte for byte, what the application sends without the library, and why. Those that
 * are broken off are left out here, and judged by a test of their own.
 */
const OTHER_BYTES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  express: {
    '/answers/oversized-file': 'what was held goes out as one chunk',
    '/written/oversized-pipeline': 'what was held goes out as one chunk',
    '/written/invalid-status': 'Node answers with the length of one body and the bytes of another',
    '/written/invalid-reason': 'Express never answers',
  },
  fastify: {
    '/answers/oversized-file': 'what was held goes out as one chunk',
    '/written/oversized-stream': 'what was held goes out as one chunk',
    '/written/invalid-header': 'Node keeps the reason phrase of the head it refused',
  },
};

/** Wrong in the application: what is written after the end gets out where a session is stored first. */
const LONGER_THAN_ITS_END = '/written/write-after-end';

const REPLAYABLE = [
  'Content-Type',
  'Content-Language',
  'Content-Disposition',
  'Content-Location',
  'Location',
  'ETag',
  'Last-Modified',
  'Link',
  'Cache-Control',
  'Retry-After',
].map((name) => name.toLowerCase());

const CODINGS = ['identity', 'gzip'];

const database = useDatabase();

describe.each(PLATFORMS)('on %s', (platform) => {
  let bare: WireApp;
  let app: WireApp;

  beforeAll(async () => {
    bare = await startWireApp({ platform, url: database.url, isProtected: false });
    app = await startWireApp({ platform, url: database.url });
  });

  afterAll(async () => {
    await bare.close();
    await app.close();
  });

  /** Sends a request, and behind it on the same connection another one; answers with all that came back. */
  function ask({ port }: WireApp, { method, path }: Route, run: string, coding: string): Promise<Buffer> {
    const headers = { Origin: 'https://shop.test', 'Accept-Encoding': coding };
    const request = bytesOf({ method, path, key: run, body: { run }, headers });
    return exchange(port, request + bytesOf({ method: 'GET', path: '/after', headers: { Connection: 'close' } }));
  }

  /** Sends the same request twice, and tells what it did to the tables. */
  async function askTwice(route: Route, coding = 'identity') {
    const run = randomUUID();
    const first = await ask(app, route, run, coding);
    const firstRows = await database.witness.rowsOf(run);
    const record = await database.witness.recordOf(run);
    const second = await ask(app, route, run, coding);
    const rows = { afterFirst: firstRows, afterSecond: await database.witness.rowsOf(run) };
    return { first, second, rows, record, entries: app.ledger.entriesOf(run) };
  }

  const controllers = [AnswersController, platform === 'express' ? ExpressAnswersController : FastifyAnswersController];
  const routes = controllers.flatMap((controller) => routesOf(controller));
  const named = (chosen: readonly Route[]) => chosen.map((route) => ({ ...route, toString: () => route.path }));
  const withFate = (...fates: readonly Route['fate'][]) => named(routes.filter(({ fate }) => fates.includes(fate)));
  const otherBytes = OTHER_BYTES[platform]!;

  describe.each(CODINGS)('in content coding %s', (coding) => {
    it.each(named(routes.filter(({ path, fate }) => !(path in otherBytes) && fate !== 'broken')))(
      '$path answers byte for byte as without the library, and leaves the connection as usable',
      async (route) => {
        const run = randomUUID();
        const without = await ask(bare, route, `bare-${run}`, coding);
        expect(normalized(await ask(app, route, run, coding))).toBe(normalized(without));
      },
    );

    it.each(withFate('oversized'))(
      '$path sends every byte, with the head it has without the library',
      async (route) => {
        const run = randomUUID();
        const [without] = responsesIn(await ask(bare, route, `bare-${run}`, coding));
        const [first, after] = responsesIn(await ask(app, route, run, coding));
        expect(headOf(first!)).toEqual(headOf(without!));
        expect(first!.isWhole).toBe(true);
        expect(first!.body().equals(without!.body())).toBe(true);
        expect(after?.body().toString()).toBe('still here');
      },
    );

    it.each(withFate('done').filter(({ path }) => path !== LONGER_THAN_ITS_END))(
      '$path commits once, and replays its answer',
      async (route) => {
        const { first, second, rows, record, entries } = await askTwice(route, coding);
        expectReplay(first, second);
        expect({ rows, entries }).toEqual({ rows: { afterFirst: 1, afterSecond: 1 }, entries: 1 });
        expect(record).toMatchObject({ state: 'completed', omitted: null });
      },
    );
  });

  it.each(withFate('refused'))('$path is undone, and replays its refusal', async (route) => {
    const { first, second, rows, record, entries } = await askTwice(route);
    expectReplay(first, second);
    expect({ rows, entries }).toEqual({ rows: { afterFirst: 0, afterSecond: 0 }, entries: 1 });
    expect(record).toMatchObject({ state: 'completed', omitted: null });
  });

  it.each(withFate('undone'))('$path is undone, and its retry tries again', async (route) => {
    const { first, second, rows, record, entries } = await askTwice(route);
    expect(normalized(second)).toBe(normalized(first));
    expect({ rows, record, entries }).toEqual({ rows: { afterFirst: 0, afterSecond: 0 }, record: null, entries: 2 });
  });

  it.each(withFate('broken'))(
    '$path answers 500 in place of a torso, is undone, and its retry tries again',
    async (route) => {
      const { first, second, rows, record, entries } = await askTwice(route);
      for (const received of [first, second]) {
        expect(responsesIn(received)[0]).toMatchObject({ status: 500, isWhole: true });
      }
      expect({ rows, record, entries }).toEqual({ rows: { afterFirst: 0, afterSecond: 0 }, record: null, entries: 2 });
    },
  );

  it.each(withFate('oversized'))(
    '$path commits once, and tells its retry that the answer was not kept',
    async (route) => {
      const { first, second, rows, record, entries } = await askTwice(route);
      expect(responsesIn(first)[0]!.status).toBe(201);
      const [refusal] = responsesIn(second);
      expect(refusal!.status).toBe(409);
      expect(refusal!.header('Content-Type')).toBe('application/problem+json; charset=utf-8');
      expect(refusal!.json()).toMatchObject({ code: 'idempotency-response-unavailable', retryable: false });
      expect({ rows, entries }).toEqual({ rows: { afterFirst: 1, afterSecond: 1 }, entries: 1 });
      expect(record).toEqual({ state: 'completed', status: 201, omitted: 'too_large', hasBody: false });
    },
  );

  it('names the resource of an answer that was not kept', async () => {
    const { second } = await askTwice({ method: 'POST', path: '/answers/oversized-file', fate: 'oversized' });
    const [refusal] = responsesIn(second);
    expect(refusal!.json()).toMatchObject({ resource: '/files/1' });
    expect(refusal!.header('Link')).toBe('</files/1>; rel="related"');
  });

  it('answers 500 where the handler threw after it had written a part', async () => {
    const { first } = await askTwice({ method: 'POST', path: '/written/thrown-after-a-part', fate: 'broken' });
    const [problem, after] = responsesIn(first);
    expect(problem!.status).toBe(500);
    expect(problem!.json()).toMatchObject({ code: 'idempotency-work-broken', retryable: true });
    expect(after!.body().toString()).toBe('still here');
  });
});

function headOf({ status, reason, headers }: Response) {
  return { status, reason, names: headers.map(([name]) => name.toLowerCase()) };
}

function expectReplay(first: Buffer, second: Buffer): void {
  const [answer, afterAnswer] = responsesIn(first);
  const [replay, afterReplay] = responsesIn(second);
  expect(answer!.header('Idempotent-Replayed')).toBeUndefined();
  expect(replay!.header('Idempotent-Replayed')).toBe('true');
  expect(replay!.status).toBe(answer!.status);
  expect(replay!.isWhole).toBe(true);
  expect(replayable(replay!)).toEqual(replayable(answer!));
  expect(replay!.body().toString('latin1')).toBe(answer!.body().toString('latin1'));
  // What middleware gives to every answer, it gives to a replay too.
  for (const name of ['X-Request-Id', 'X-Served-By', 'Access-Control-Allow-Origin', 'Strict-Transport-Security']) {
    expect(replay!.header(name)).toBeDefined();
  }
  expect(replay!.header('X-Request-Id')).not.toBe(answer!.header('X-Request-Id'));
  expect(afterReplay!.body().equals(afterAnswer!.body())).toBe(true);
}

function replayable({ headers }: Response): (readonly [string, string])[] {
  return headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => REPLAYABLE.includes(name))
    .sort(([name], [other]) => name.localeCompare(other));
}
