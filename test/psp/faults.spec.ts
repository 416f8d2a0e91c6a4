import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createApp } from '../../apps/psp/src/app.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from '../module/gate.js';
import { dial } from '../wire/socket.js';
import { chargeOf, newReference, Psp } from './psp.js';

jest.setTimeout(30_000);

let database: TestDatabase;
let psp: Psp;

beforeAll(async () => {
  database = await createTestDatabase();
  psp = await Psp.start({ databaseUrl: database.url });
});

afterEach(async () => {
  expect(await psp.armed()).toEqual([]);
});

afterAll(async () => {
  await psp?.stop();
  await database?.drop();
});

/** The retry of a call that had no effect charges; the retry of one that had is given what was kept. */
async function expectRetried(reference: string, key: string, hadEffect: boolean): Promise<void> {
  const retry = await psp.charge({ reference }, { key });
  expect([retry.status, retry.header('Idempotent-Replayed')]).toEqual([201, hadEffect ? 'true' : undefined]);
  expect(await psp.charges(reference)).toBe(1);
}

describe('a call that fails before its effect', () => {
  it.each([
    ['error_before', {}, 503, 'unavailable', undefined],
    ['rate_limited', {}, 429, 'rate_limited', '1'],
    ['rate_limited', { delayMs: 7_000 }, 429, 'rate_limited', '7'],
  ])('by %s %j is told so, and has charged nothing', async (kind, details, status, code, retryAfter) => {
    const [key, reference] = [randomUUID(), newReference()];
    await psp.arm({ kind, operation: 'charge', ...details });

    const answer = await psp.charge({ reference }, { key });

    expect([answer.status, answer.json()['code']]).toEqual([status, code]);
    expect(answer.header('Retry-After')).toBe(retryAfter);
    expect(answer.header('Content-Type')).toMatch(/^application\/problem\+json\b/);
    expect([await psp.charges(reference), await psp.keptAnswers(key)]).toEqual([0, 0]);
    await expectRetried(reference, key, false);
  });
});

describe('a connection', () => {
  it.each([
    ['cut_before', 0],
    ['cut_after', 1],
  ])('that is struck by %s carries no byte of an answer, and %d charges were made', async (kind, charges) => {
    const [key, reference] = [randomUUID(), newReference()];
    await psp.arm({ kind, operation: 'charge' });

    expect((await psp.raw('POST', '/charges', chargeOf({ reference }), { key })).toString()).toBe('');

    expect([await psp.charges(reference), await psp.keptAnswers(key)]).toEqual([charges, charges]);
    await expectRetried(reference, key, charges === 1);
  });

  it.each([
    ['no_answer_before', 0],
    ['no_answer', 1],
  ])('that is struck by %s stays open without a byte, and %d charges were made', async (kind, charges) => {
    const [key, reference] = [randomUUID(), newReference()];
    await psp.arm({ kind, operation: 'charge' });
    const socket = await dial(psp.port);
    let received = '';
    socket.on('data', (bytes) => (received += String(bytes)));
    socket.write(psp.bytes('POST', '/charges', chargeOf({ reference }), { key }));

    await psp.untilCall(reference, ({ outcome }) => outcome === 'silence');

    expect([await psp.charges(reference), await psp.keptAnswers(key)]).toEqual([charges, charges]);
    await expectRetried(reference, key, charges === 1);
    expect([socket.readyState, received]).toEqual(['open', '']);
    socket.end();
    await once(socket, 'close');
    expect(received).toBe('');
  });
});

describe('a call that fails after its effect', () => {
  it('by error_after is told of an error, and has charged', async () => {
    const [key, reference] = [randomUUID(), newReference()];
    await psp.arm({ kind: 'error_after', operation: 'charge' });
    const answer = await psp.charge({ reference }, { key });
    expect([answer.status, answer.json()['code']]).toEqual([500, 'internal_error']);
    expect(await psp.charges(reference)).toBe(1);
    await expectRetried(reference, key, true);
  });

  it('by malformed is given a success that nobody can read, and has charged', async () => {
    const [key, reference] = [randomUUID(), newReference()];
    await psp.arm({ kind: 'malformed', operation: 'charge' });
    const answer = await psp.charge({ reference }, { key });
    expect([answer.status, answer.isWhole]).toEqual([200, true]);
    expect(answer.header('Content-Type')).toMatch(/^application\/json\b/);
    expect(answer.payload.toString()).toMatch(/^\{"id":"ch_/);
    expect(() => answer.json()).toThrow(SyntaxError);
    expect(await psp.charges(reference)).toBe(1);
    await expectRetried(reference, key, true);
  });

  it('by slow is answered late, when the money has long been taken', async () => {
    const [key, reference] = [randomUUID(), newReference()];
    await psp.arm({ kind: 'slow', operation: 'charge', delayMs: 600_000 });
    const socket = await dial(psp.port);
    let received = '';
    socket.on('data', (bytes) => (received += String(bytes)));
    socket.write(psp.bytes('POST', '/charges', chargeOf({ reference }), { key }));

    await eventually('the money is taken', async () => (await psp.charges(reference)) === 1);
    await expectRetried(reference, key, true);
    await psp.untilCall(reference, ({ outcome }) => outcome === null);
    expect([socket.readyState, received]).toEqual(['open', '']);
    socket.destroy();

    await psp.arm({ kind: 'slow', operation: 'charge', delayMs: 1 });
    expect((await psp.charge()).status).toBe(201);
  });

  it('also fails where its answer was kept before, or is a refusal', async () => {
    const [key, reference] = [randomUUID(), newReference()];
    await psp.charge({ reference }, { key });
    await psp.arm({ kind: 'error_after', times: 2 });
    expect((await psp.charge({ reference }, { key })).status).toBe(500);
    expect((await psp.charge({ card: 'tok_declined' })).status).toBe(500);
    expect(await psp.charges(reference)).toBe(1);
  });
});

describe('a call that is held', () => {
  it.each([
    ['before', 0],
    ['during', 0],
    ['after', 1],
  ])('%s its effect stands there with %d charges made, and goes on when it is released', async (at, charges) => {
    const [key, reference] = [randomUUID(), newReference()];
    expect((await psp.post('/control/hold', { operation: 'charge', at, reference })).status).toBe(201);
    let isAnswered = false;
    const held = psp.charge({ reference }, { key }).finally(() => (isAnswered = true));

    const call = await psp.untilHeld(reference);

    expect((await psp.get('/control/held')).json()).toEqual({
      calls: [
        {
          id: call.id,
          operation: 'charge',
          key,
          charge: null,
          references: [reference],
          fault: 'hold',
          heldAt: at,
          outcome: null,
        },
      ],
    });
    expect([await psp.charges(reference), isAnswered]).toEqual([charges, false]);
    const released = await psp.release();
    expect(released).toMatchObject([{ id: call.id, heldAt: null, outcome: 'answer', status: 201 }]);
    expect(await psp.charges(reference)).toBe(1);
    expect((await held).status).toBe(201);
    expect((await psp.get('/control/held')).json()).toEqual({ calls: [] });
  });

  it('charges when it is released, though its caller has gone', async () => {
    const reference = newReference();
    await psp.post('/control/hold', { reference });
    const socket = await dial(psp.port);
    socket.write(psp.bytes('POST', '/charges', chargeOf({ reference })));
    await psp.untilHeld(reference);
    socket.destroy();
    await once(socket, 'close');
    await psp.release();
    expect(await psp.charges(reference)).toBe(1);
  });

  it('can be released alone', async () => {
    const [one, another] = [newReference(), newReference()];
    await psp.post('/control/hold', { times: 2 });
    const calls = [psp.charge({ reference: one }), psp.charge({ reference: another })];
    const [{ id }] = [await psp.untilHeld(one), await psp.untilHeld(another)];

    expect((await psp.post('/control/release', { call: id })).json()).toMatchObject({ calls: [{ id }] });

    expect([await psp.charges(one), await psp.charges(another)]).toEqual([1, 0]);
    expect(await psp.release()).toMatchObject([{ references: [another] }]);
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([201, 201]);
  });
});

describe('the queue of faults', () => {
  it('gives each call the first that is meant for it, and no other, in the order in which they were armed', async () => {
    await psp.arm({ kind: 'error_before', times: 2 });
    await psp.arm({ kind: 'error_after' });
    expect(await psp.armed()).toMatchObject([
      { operation: 'any', kind: 'error_before', left: 2 },
      { operation: 'any', kind: 'error_after', left: 1 },
    ]);
    const statuses: number[] = [];
    for (let call = 0; call < 4; call++) statuses.push((await psp.charge()).status);
    expect(statuses).toEqual([503, 503, 500, 201]);
  });

  it('lets calls pass that a fault is not meant for', async () => {
    const reference = newReference();
    await psp.arm({ kind: 'error_before', operation: 'refund', reference });
    const { id } = await psp.charged({ reference });
    const other = await psp.charged();
    expect((await psp.post(`/charges/${other.id}/refunds`)).status).toBe(201);
    expect((await psp.get(`/charges/${id}`)).status).toBe(200);
    expect((await psp.post(`/charges/${id}/refunds`)).status).toBe(503);
    expect((await psp.get(`/charges/${id}`)).json()).toMatchObject({ refunded: 0 });
  });

  it('finds a capture by the reference of its charge, and a refund by its own as well', async () => {
    const [reference, refund] = [newReference(), newReference()];
    const { id } = await psp.charged({ reference, capture: false });
    await psp.arm({ kind: 'cut_after', operation: 'capture', reference });
    await psp.arm({ kind: 'cut_after', operation: 'refund', reference: refund });

    expect((await psp.raw('POST', `/charges/${id}/capture`, {})).toString()).toBe('');
    expect((await psp.raw('POST', `/charges/${id}/refunds`, { amount: 5, reference: refund })).toString()).toBe('');

    expect((await psp.get(`/charges/${id}`)).json()).toMatchObject({ status: 'captured', refunded: 5 });
  });

  it('strikes a lookup only where that is said', async () => {
    const reference = newReference();
    await psp.charged({ reference });
    await psp.arm({ kind: 'error_before' });
    expect((await psp.get(`/charges?reference=${reference}`)).status).toBe(200);
    await psp.arm({ kind: 'error_before', operation: 'lookup' });
    expect((await psp.get(`/charges?reference=${reference}`)).status).toBe(503);
    expect((await psp.charge()).status).toBe(503);
  });

  it('is not touched by calls that are refused at the door', async () => {
    await psp.arm({ kind: 'error_before' });
    expect((await psp.charge({}, { apiKey: 'sk_test_unknown' })).status).toBe(401);
    expect((await psp.charge({ amount: 0 })).status).toBe(400);
    expect((await psp.charge({}, { key: '' })).status).toBe(400);
    expect((await psp.charge()).status).toBe(503);
  });

  it('is emptied by DELETE', async () => {
    await psp.arm({ kind: 'error_before', times: 9 });
    expect((await psp.send('DELETE', '/control/faults')).status).toBe(204);
    expect((await psp.charge()).status).toBe(201);
  });

  it.each([
    { kind: 'unheard_of' },
    { operation: 'charge' },
    { kind: 'error_before', times: 0 },
    { kind: 'error_before', delayMs: 5 },
    { kind: 'slow', at: 'after' },
    { kind: 'hold', at: 'sometime' },
    { kind: 'lost_webhook', delayMs: 5 },
    { kind: 'late_webhook', operation: 'lookup' },
  ])('refuses %j', async (fault) => {
    const answer = await psp.post('/control/faults', fault);
    expect([answer.status, answer.json()['code']]).toEqual([400, 'invalid_input']);
  });
});

describe('the log of calls', () => {
  it('tells every arrival and what became of it, until it is cleared', async () => {
    await psp.send('DELETE', '/control/calls');
    const [key, reference] = [randomUUID(), newReference()];
    await psp.arm({ kind: 'cut_after' });
    await psp.raw('POST', '/charges', chargeOf({ reference }), { key });
    await psp.charge({ reference }, { key });
    await psp.get(`/charges?reference=${reference}`);
    const about = { references: [reference], charge: null, heldAt: null };
    expect(await psp.calls()).toEqual([
      { ...about, id: expect.any(String), operation: 'charge', key, fault: 'cut_after', outcome: 'cut' },
      {
        ...about,
        id: expect.any(String),
        operation: 'charge',
        key,
        fault: null,
        outcome: 'answer',
        status: 201,
        isReplay: true,
      },
      {
        ...about,
        id: expect.any(String),
        operation: 'lookup',
        key: null,
        fault: null,
        outcome: 'answer',
        status: 200,
        isReplay: false,
      },
    ]);
  });
});

describe('the control API', () => {
  it('answers only on the loopback interface', async () => {
    const app = await createApp({ databaseUrl: database.url });
    const socketPath = join(tmpdir(), `psp-${randomUUID()}.sock`);
    await app.listen(socketPath);
    try {
      const ask = request({ socketPath, path: '/control/faults' }).end();
      const [answer] = (await once(ask, 'response')) as [IncomingMessage];
      expect(answer.statusCode).toBe(403);
      expect(JSON.parse(await text(answer))).toMatchObject({ code: 'control_is_local' });
    } finally {
      await app.close();
    }
  });
});

describe('an app that ends', () => {
  it('cuts what is held or left unanswered, and does nothing more for it', async () => {
    const doomed = await Psp.start({ databaseUrl: database.url });
    const [before, during, after, silent] = [newReference(), newReference(), newReference(), newReference()];
    await doomed.arm({ kind: 'hold', at: 'before', reference: before });
    await doomed.arm({ kind: 'hold', at: 'during', reference: during });
    await doomed.arm({ kind: 'hold', at: 'after', reference: after });
    await doomed.arm({ kind: 'no_answer', reference: silent });
    const answers = [before, during, after, silent].map((reference) =>
      doomed.raw('POST', '/charges', chargeOf({ reference })),
    );
    for (const reference of [before, during, after]) await doomed.untilHeld(reference);
    await doomed.untilCall(silent, ({ outcome }) => outcome === 'silence');

    await doomed.stop();

    expect((await Promise.all(answers)).map(String)).toEqual(['', '', '', '']);
    const charges: number[] = [];
    for (const reference of [before, during, after, silent]) charges.push(await psp.charges(reference));
    expect(charges).toEqual([0, 0, 1, 1]);
  });
});
