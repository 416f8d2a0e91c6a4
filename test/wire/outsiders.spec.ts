import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useDatabase } from './database.js';
import { eventually } from './gate.js';
import { GatedController } from './gated.controller.js';
import { Ledger } from './ledger.js';
import { answeringMiddleware, interferenceIn, type Outer, OuterInterceptor } from './outer-interceptors.js';
import { PAYMENT } from './payloads.js';
import type { Request } from './socket.js';
import { PLATFORMS, startWireApp, type WireApp } from './wire-app.js';

const database = useDatabase();

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: WireApp;

  beforeAll(async () => {
    app = await startWireApp({
      platform,
      url: database.url,
      controllers: [GatedController],
      outerInterceptors: [OuterInterceptor],
      configure: (nest) => nest.use(answeringMiddleware(nest.get(Ledger))),
    });
  });

  afterAll(() => app.close());

  const request = (path: string, run: string, outer?: Outer): Request => ({
    path: `/gated/${path}`,
    key: run,
    body: { run },
    headers: { 'X-Run': run, ...(outer && { 'X-Outer': outer }) },
  });

  /** Has an outsider answer while a request waits at the test's gate. */
  async function answeredFromOutside(path: string, outer: Outer) {
    const run = randomUUID();
    const answering = app.send(request(path, run, outer));
    await app.ledger.arrived(run);
    app.ledger.letGo(interferenceIn(run));
    return { run, answer: await answering };
  }

  const ANSWERS = [
    ['timeout', 408, { statusCode: 408, message: 'Request Timeout' }],
    ['middleware', 503, { answered: 'by middleware' }],
    ['unsubscribe', 202, { left: 'early' }],
  ] as const;

  describe.each(ANSWERS)('an outer %s that answers while the handler runs', (outer, status, body) => {
    it('is sent as it is, and not recorded', async () => {
      const { run, answer } = await answeredFromOutside('value', outer);
      expect(answer.status).toBe(status);
      expect(answer.json()).toEqual(body);
      expect(answer.header('Idempotent-Replayed')).toBeUndefined();
      expect(await database.witness.recordOf(run)).toMatchObject({ state: 'in_progress', status: null });
      app.ledger.letGo(run);
      await eventually(
        'the work is recorded',
        async () => (await database.witness.recordOf(run))?.state === 'completed',
      );
    });

    it('leaves the claim where it is: a retry is told to wait', async () => {
      const { run } = await answeredFromOutside('value', outer);
      const retry = await app.send(request('value', run));
      expect(retry.status).toBe(409);
      expect(retry.json()).toMatchObject({ code: 'idempotency-request-in-progress', retryable: true });
      expect(Number(retry.header('Retry-After'))).toBeGreaterThan(0);
      app.ledger.letGo(run);
      await eventually(
        'the work is recorded',
        async () => (await database.witness.recordOf(run))?.state === 'completed',
      );
    });

    it('has the work committed once, with its status and without a body', async () => {
      const { run } = await answeredFromOutside('value', outer);
      app.ledger.letGo(run);
      await eventually(
        'the work is recorded',
        async () => (await database.witness.recordOf(run))?.state === 'completed',
      );
      expect(await database.witness.recordOf(run)).toEqual({
        state: 'completed',
        status: 202,
        omitted: 'not_seen',
        hasBody: false,
      });
      const retry = await app.send(request('value', run));
      expect(retry.status).toBe(409);
      expect(retry.json()).toMatchObject({ code: 'idempotency-response-unavailable', retryable: false });
      expect(await database.witness.rowsOf(run)).toBe(1);
      expect(app.ledger.entriesOf(run)).toBe(1);
    });

    it('has work that then fails undone, and left to the retry', async () => {
      const { run } = await answeredFromOutside('refusal', outer);
      app.ledger.letGo(run);
      await eventually('the claim is released', async () => (await database.witness.recordOf(run)) === null);
      expect(await database.witness.rowsOf(run)).toBe(0);
      const retry = await app.send(request('refusal', run));
      expect(retry.status).toBe(400);
      expect(app.ledger.entriesOf(run)).toBe(2);
    });

    it('has the handler refused where only its pipes had run, and the claim released', async () => {
      const { run, answer } = await answeredFromOutside('piped-in', outer);
      expect(answer.json()).toEqual(outer === 'unsubscribe' ? { left: 'early' } : body);
      await eventually('the claim is released', async () => (await database.witness.recordOf(run)) === null);
      app.ledger.letGo(run);
      const retry = await app.send(request('piped-in', run));
      expect(retry.status).toBe(201);
      expect(retry.json()).toEqual(PAYMENT);
      expect(await database.witness.rowsOf(run)).toBe(1);
      expect(app.ledger.entriesOf(run)).toBe(1);
    });
  });

  it('an outer retry runs the handler again under the same claim, and only the last try is committed', async () => {
    const run = randomUUID();
    const answer = await app.send(request('failing-at-first', run, 'retry'));
    expect(answer.status).toBe(201);
    expect(answer.json()).toEqual(PAYMENT);
    expect(app.ledger.entriesOf(run)).toBe(3);
    expect(await database.witness.rowsOf(run)).toBe(1);
    const [record] = await database.witness.query('SELECT attempts FROM idempotency_records WHERE key = $1', [run]);
    expect(record).toEqual({ attempts: 1 });
    const replay = await app.send(request('failing-at-first', run));
    expect(replay.header('Idempotent-Replayed')).toBe('true');
    expect(replay.json()).toEqual(PAYMENT);
    expect(app.ledger.entriesOf(run)).toBe(3);
  });

  it('an outer retry does not run a handler again that failed once its answer was complete', async () => {
    const run = randomUUID();
    const answer = await app.send(request('failing-once-answered', run, 'retry'));
    expect(answer.status).toBe(201);
    expect(answer.body().toString()).toBe('paid');
    expect(await database.witness.rowsOf(run)).toBe(1);
    expect(app.ledger.entriesOf(run)).toBe(1);
    const replay = await app.send(request('failing-once-answered', run));
    expect(replay.header('Idempotent-Replayed')).toBe('true');
    expect(replay.body().toString()).toBe('paid');
  });
});
