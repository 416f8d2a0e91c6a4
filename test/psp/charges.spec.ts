import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from '../module/gate.js';
import type { Response } from '../wire/socket.js';
import { newReference, Psp } from './psp.js';

jest.setTimeout(30_000);

const apiKeys = ['sk_test_demo', 'sk_test_other'];
const other = { apiKey: 'sk_test_other' };

let database: TestDatabase;
let psp: Psp;

beforeAll(async () => {
  database = await createTestDatabase();
  psp = await Psp.start({ databaseUrl: database.url, apiKeys });
});

afterEach(async () => {
  await psp.send('PATCH', '/control/mode', { keys: 'kept', search: 'on' });
});

afterAll(async () => {
  await psp?.stop();
  await database?.drop();
});

function expectProblem(answer: Response, status: number, code: string): void {
  expect([answer.status, answer.json()['status'], answer.json()['code']]).toEqual([status, status, code]);
  expect(answer.header('Content-Type')).toMatch(/^application\/problem\+json\b/);
}

interface Row {
  id: string;
  reference: string;
}

const bookRow = async (id: string): Promise<Row | undefined> =>
  ((await psp.get('/book')).json()['charges'] as Row[]).find((row) => row.id === id);

describe('a charge', () => {
  it('takes the money at once, and is found by its id and by its reference', async () => {
    const reference = newReference();

    const answer = await psp.charge({ reference });

    const charge = answer.json();
    expect(answer.status).toBe(201);
    expect(charge).toEqual({
      id: expect.stringMatching(/^ch_[0-9a-f-]{36}$/),
      status: 'captured',
      amount: 500,
      currency: 'usd',
      reference,
      captured: 500,
      refunded: 0,
      createdAt: expect.any(String),
    });
    expect((await psp.get(`/charges/${charge['id']}`)).json()).toEqual(charge);
    expect((await psp.get(`/charges?reference=${reference}`)).json()).toEqual({ charges: [charge] });
    expect(await psp.rows('SELECT amount, captured, refunded FROM charges WHERE reference = $1', reference)).toEqual([
      { amount: '500', captured: '500', refunded: '0' },
    ]);
  });

  it('that only authorizes takes the money when it is captured, once and no more than was authorized', async () => {
    const { id, ...authorized } = await psp.charged({ capture: false });
    expect(authorized).toMatchObject({ status: 'authorized', captured: 0 });

    expectProblem(await psp.post(`/charges/${id}/refunds`), 422, 'not_captured');
    expectProblem(await psp.post(`/charges/${id}/capture`, { amount: 501 }), 422, 'capture_exceeds_authorized');
    const capture = await psp.post(`/charges/${id}/capture`, { amount: 400 });
    expect(capture.status).toBe(201);
    expect(capture.json()).toMatchObject({ id, status: 'captured', amount: 500, captured: 400 });
    expectProblem(await psp.post(`/charges/${id}/capture`), 422, 'already_captured');

    expect(await bookRow(id)).toMatchObject({ status: 'captured', charged: 500, captured: 400, refunded: 0 });
  });

  it('is captured in full when no amount is named', async () => {
    const { id } = await psp.charged({ capture: false });
    expect((await psp.post(`/charges/${id}/capture`)).json()).toMatchObject({ captured: 500 });
  });

  it.each([
    ['tok_declined', 'card_declined'],
    ['tok_insufficient', 'insufficient_funds'],
  ])('of %s is refused as %s, which is kept under its key, and takes nothing', async (card, code) => {
    const [key, reference] = [randomUUID(), newReference()];

    const first = await psp.charge({ card, reference }, { key });
    const retry = await psp.charge({ card, reference }, { key });

    expectProblem(first, 402, code);
    expect(first.header('Idempotent-Replayed')).toBeUndefined();
    expect([retry.status, retry.header('Idempotent-Replayed')]).toEqual([402, 'true']);
    expect(retry.payload.equals(first.payload)).toBe(true);
    expect(retry.header('Content-Type')).toBe(first.header('Content-Type'));
    expect(await psp.charges(reference)).toBe(0);
  });

  it.each([
    { amount: 0 },
    { amount: 1.5 },
    { amount: '500' },
    { currency: 'USD' },
    { card: 'tok_unheard_of' },
    { reference: '' },
    { capture: 'no' },
    { tip: 1 },
  ])('of %j is refused, and leaves the key free for a correct one', async (wrong) => {
    const [key, reference] = [randomUUID(), newReference()];
    expectProblem(await psp.charge({ reference, ...wrong }, { key }), 400, 'invalid_input');
    expect((await psp.charge({ reference }, { key })).status).toBe(201);
    expect(await psp.charges(reference)).toBe(1);
  });

  it('of another merchant does not exist', async () => {
    const reference = newReference();
    const { id } = await psp.charged({ reference });
    expectProblem(await psp.get(`/charges/${id}`, other), 404, 'charge_not_found');
    expectProblem(await psp.post(`/charges/${id}/refunds`, {}, other), 404, 'charge_not_found');
    expect((await psp.get(`/charges?reference=${reference}`, other)).json()).toEqual({ charges: [] });
  });

  it('needs an API key that the provider knows', async () => {
    const answer = await psp.charge({}, { apiKey: 'sk_test_unknown' });
    expectProblem(answer, 401, 'unauthenticated');
    expect(answer.header('WWW-Authenticate')).toBe('Bearer');
  });
});

describe('a refund', () => {
  it('gives money back in parts, up to what was taken', async () => {
    const reference = newReference();
    const { id } = await psp.charged();

    const first = await psp.post(`/charges/${id}/refunds`, { amount: 200, reference });
    expect(first.status).toBe(201);
    expect(first.json()).toMatchObject({ charge: id, amount: 200, currency: 'usd', reference });
    expectProblem(await psp.post(`/charges/${id}/refunds`, { amount: 301 }), 422, 'refund_exceeds_captured');
    expect((await psp.post(`/charges/${id}/refunds`)).json()).toMatchObject({ amount: 300 });
    expectProblem(await psp.post(`/charges/${id}/refunds`), 422, 'refund_exceeds_captured');

    expect((await psp.get(`/refunds?reference=${reference}`)).json()).toEqual({ refunds: [first.json()] });
    expect(await bookRow(id)).toMatchObject({ charged: 500, captured: 500, refunded: 500 });
    expect(await psp.rows('SELECT sum(amount) FROM refunds WHERE charge_id = $1', id)).toEqual([{ sum: '500' }]);
  });

  it('waits for another of the same charge, and sees what that one left', async () => {
    const reference = newReference();
    const { id } = await psp.charged({ reference });
    await psp.arm({ kind: 'hold', operation: 'refund', at: 'during', reference });

    const first = psp.post(`/charges/${id}/refunds`, { amount: 300 });
    await psp.untilHeld(reference);
    const second = psp.post(`/charges/${id}/refunds`, { amount: 300 });
    await eventually('the second waits for the row', async () => {
      const [row] = await psp.rows(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return row;
    });
    await psp.release();

    expect((await first).status).toBe(201);
    expectProblem(await second, 422, 'refund_exceeds_captured');
    expect(await bookRow(id)).toMatchObject({ refunded: 300 });
  });
});

describe('a key', () => {
  it('is answered once more with the same bytes, and nothing is charged', async () => {
    const [key, reference] = [randomUUID(), newReference()];

    const first = await psp.charge({ reference }, { key });
    const retry = await psp.charge({ capture: true, reference }, { key });

    expect([first.status, first.header('Idempotent-Replayed')]).toEqual([201, undefined]);
    expect([retry.status, retry.header('Idempotent-Replayed')]).toEqual([201, 'true']);
    expect(retry.payload.equals(first.payload)).toBe(true);
    expect(retry.header('Content-Type')).toBe(first.header('Content-Type'));
    expect(await psp.charges(reference)).toBe(1);
  });

  it.each([{ amount: 501 }, { currency: 'eur' }, { card: 'tok_declined' }, { capture: false }, { reference: 'x' }])(
    'that comes with %j instead is refused',
    async (change) => {
      const [key, reference] = [randomUUID(), newReference()];
      await psp.charge({ reference }, { key });
      expectProblem(await psp.charge({ reference, ...change }, { key }), 422, 'key_reused');
      expect(await psp.charges(reference)).toBe(1);
    },
  );

  it('names one operation on one charge', async () => {
    const key = randomUUID();
    const [one, another] = [await psp.charged(), await psp.charged()];

    expect((await psp.post(`/charges/${one.id}/refunds`, { amount: 100 }, { key })).status).toBe(201);
    const retry = await psp.post(`/charges/${one.id}/refunds`, { amount: 100 }, { key });
    expect([retry.status, retry.header('Idempotent-Replayed')]).toEqual([201, 'true']);

    expectProblem(await psp.post(`/charges/${another.id}/refunds`, { amount: 100 }, { key }), 422, 'key_reused');
    expectProblem(await psp.post(`/charges/${one.id}/capture`, { amount: 100 }, { key }), 422, 'key_reused');
    expect(await bookRow(one.id)).toMatchObject({ refunded: 100 });
    expect(await bookRow(another.id)).toMatchObject({ refunded: 0 });
  });

  it('keeps what a capture was answered', async () => {
    const key = randomUUID();
    const { id } = await psp.charged({ capture: false });
    const first = await psp.post(`/charges/${id}/capture`, { amount: 450 }, { key });
    const retry = await psp.post(`/charges/${id}/capture`, { amount: 450 }, { key });
    expect([first.status, retry.status, retry.header('Idempotent-Replayed')]).toEqual([201, 201, 'true']);
    expect(retry.payload.equals(first.payload)).toBe(true);
  });

  it('of another merchant is another key', async () => {
    const [key, reference] = [randomUUID(), newReference()];
    const mine = await psp.charge({ reference }, { key });
    const theirs = await psp.charge({ reference }, { key, ...other });
    expect([mine.status, theirs.status, theirs.header('Idempotent-Replayed')]).toEqual([201, 201, undefined]);
    expect(await psp.charges(reference)).toBe(2);
  });

  it('that is in flight is refused, whatever comes with it, by the row that nobody else sees', async () => {
    const [key, reference] = [randomUUID(), newReference()];
    await psp.arm({ kind: 'hold', operation: 'charge', at: 'during', reference });

    const first = psp.charge({ reference }, { key });
    await psp.untilHeld(reference);
    expectProblem(await psp.charge({ reference }, { key }), 409, 'key_in_use');
    expectProblem(await psp.charge({ reference, amount: 501 }, { key }), 409, 'key_in_use');
    expect([await psp.charges(reference), await psp.keptAnswers(key)]).toEqual([0, 0]);
    await psp.release();

    expect((await first).status).toBe(201);
    expect((await psp.charge({ reference }, { key })).header('Idempotent-Replayed')).toBe('true');
    expect(await psp.charges(reference)).toBe(1);
  });

  it('is in flight for every process on the book', async () => {
    const neighbour = await Psp.start({ databaseUrl: database.url });
    try {
      const [key, reference] = [randomUUID(), newReference()];
      await psp.arm({ kind: 'hold', operation: 'charge', at: 'during', reference });
      const first = psp.charge({ reference }, { key });
      await psp.untilHeld(reference);
      expectProblem(await neighbour.charge({ reference }, { key }), 409, 'key_in_use');
      await psp.release();
      const [answer, retry] = [await first, await neighbour.charge({ reference }, { key })];
      expect(retry.payload.equals(answer.payload)).toBe(true);
      expect(await psp.charges(reference)).toBe(1);
    } finally {
      await neighbour.stop();
    }
  });

  it('whose first call is cut short with the app is free', async () => {
    const [key, reference] = [randomUUID(), newReference()];
    const doomed = await Psp.start({ databaseUrl: database.url });
    await doomed.arm({ kind: 'hold', at: 'during', reference });
    const first = doomed.raw(
      'POST',
      '/charges',
      { amount: 500, currency: 'usd', card: 'tok_visa', reference },
      { key },
    );
    await doomed.untilHeld(reference);
    await doomed.stop();

    expect((await first).toString()).toBe('');
    expect([await psp.charges(reference), await psp.keptAnswers(key)]).toEqual([0, 0]);
    expect((await psp.charge({ reference }, { key })).header('Idempotent-Replayed')).toBeUndefined();
    expect(await psp.charges(reference)).toBe(1);
  });

  it.each([[''], ['k'.repeat(256)]])('of %j is refused', async (key) => {
    const reference = newReference();
    expectProblem(await psp.charge({ reference }, { key }), 400, 'invalid_key');
    expect(await psp.charges(reference)).toBe(0);
  });

  it('is not needed: without one every call charges', async () => {
    const reference = newReference();
    await psp.charged({ reference });
    await psp.charged({ reference });
    expect(await psp.charges(reference)).toBe(2);
  });
});

describe('a provider that ignores keys', () => {
  it('charges at every call, and is found out only by a search', async () => {
    expect((await psp.send('PATCH', '/control/mode', { keys: 'ignored' })).json()).toEqual({
      keys: 'ignored',
      search: 'on',
    });
    const [key, reference] = [randomUUID(), newReference()];

    const answers = [await psp.charge({ reference }, { key }), await psp.charge({ reference }, { key })];

    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers.map((answer) => answer.header('Idempotent-Replayed'))).toEqual([undefined, undefined]);
    expect((await psp.get(`/charges?reference=${reference}`)).json()).toEqual({
      charges: answers.map((answer) => answer.json()),
    });
    expect([await psp.charges(reference), await psp.keptAnswers(key)]).toEqual([2, 0]);
  });

  it('and offers no search either leaves its callers in the dark', async () => {
    const reference = newReference();
    const { id } = await psp.charged({ reference });
    await psp.send('PATCH', '/control/mode', { search: 'off' });
    expectProblem(await psp.get(`/charges?reference=${reference}`), 501, 'search_not_offered');
    expectProblem(await psp.get(`/refunds?reference=${reference}`), 501, 'search_not_offered');
    expect((await psp.get(`/charges/${id}`)).status).toBe(200);
  });
});

describe('the book', () => {
  it('adds up by currency, and holds nobody else’s charges', async () => {
    const own = await createTestDatabase();
    const fresh = await Psp.start({ databaseUrl: own.url, apiKeys });
    try {
      const usd = await fresh.charged({ amount: 700 });
      await fresh.charged({ amount: 300, capture: false });
      const eur = await fresh.charged({ amount: 200, currency: 'eur' });
      await fresh.post(`/charges/${usd.id}/refunds`, { amount: 50 });
      await fresh.charge({ amount: 9_999 }, other);

      const book = (await fresh.get('/book')).json();

      expect(book['totals']).toEqual([
        { currency: 'eur', charges: 1, charged: 200, captured: 200, refunded: 0 },
        { currency: 'usd', charges: 2, charged: 1_000, captured: 700, refunded: 50 },
      ]);
      expect(book['charges']).toMatchObject([
        { id: usd.id, charged: 700, captured: 700, refunded: 50 },
        { status: 'authorized', charged: 300, captured: 0, refunded: 0 },
        { id: eur.id, currency: 'eur', charged: 200 },
      ]);
    } finally {
      await fresh.stop();
      await own.drop();
    }
  });
});
