import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Both, expectProblem, startBoth, TRIES, untilAnswered } from './both-apps.js';
import { type Answer, startDemo } from './demo.js';

// Calls that are never answered take as long as they may, each time.
jest.setTimeout(60_000);

const VISA = { amount: 4999, currency: 'usd', card: 'tok_visa' };

let both: Both;

beforeAll(async () => {
  both = await startBoth();
});

afterEach(async () => {
  expect(await both.psp.armed()).toEqual([]);
  await both.expectEqualBooks();
});

afterAll(() => both?.stop());

const charge = (asked: object = {}, key: string = randomUUID()): Promise<Answer> =>
  both.demo.post('/charges', { ...VISA, ...asked }, { key });

const capture = (id: unknown): Promise<Answer> => both.demo.post(`/charges/${id}/capture`, undefined);

const refund = (id: unknown, amount: number, key: string = randomUUID()): Promise<Answer> =>
  both.demo.post(`/charges/${id}/refunds`, { amount }, { key });

const referenceOf = ({ json }: Answer): string => `mer_acme/${json['id']}`;

const balance = async (account: string): Promise<number> => {
  const [row] = await both.demo.rows<{ balance: string }>(
    `SELECT balance FROM accounts WHERE merchant_id = 'mer_acme' AND id = $1`,
    account,
  );
  return Number(row!.balance);
};

const entriesOf = (id: unknown): Promise<{ account_id: string; amount: string }[]> =>
  both.demo.rows('SELECT account_id, amount FROM ledger_entries WHERE charge_id = $1 ORDER BY id', id);

describe('a charge', () => {
  it('takes the money at the provider, books it, and says where it lives', async () => {
    const before = { clearing: await balance('clearing_usd'), sales: await balance('sales_usd') };

    const answer = await charge();

    expect(answer).toMatchObject({
      status: 201,
      json: { status: 'captured', amount: 4999, currency: 'usd', captured: 4999, refunded: 0 },
    });
    expect(answer.headers.get('Location')).toBe(`/charges/${answer.json['id']}`);
    expect((await both.demo.get(`/charges/${answer.json['id']}`)).json).toEqual(answer.json);
    expect(await both.psp.charges(referenceOf(answer))).toBe(1);
    expect(await balance('clearing_usd')).toBe(before.clearing - 4999);
    expect(await balance('sales_usd')).toBe(before.sales + 4999);
    expect((await both.demo.get(`/ledger?charge=${answer.json['id']}`)).json).toMatchObject({
      entries: [
        { accountId: 'clearing_usd', amount: -4999 },
        { accountId: 'sales_usd', amount: 4999 },
      ],
      sum: 0,
    });
  });

  it('is made once, and a retry is given the bytes of the first answer', async () => {
    const key = randomUUID();
    const first = await charge({}, key);
    const retry = await charge({}, key);

    expect(retry.status).toBe(201);
    expect(retry.body).toBe(first.body);
    expect(retry.headers.get('Location')).toBe(first.headers.get('Location'));
    expect([first, retry].map(({ headers }) => headers.get('Idempotent-Replayed'))).toEqual([null, 'true']);
    expect(await both.callsAbout(referenceOf(first), 'charge')).toHaveLength(1);
  });

  it('is made once when the retry overtakes it', async () => {
    const key = randomUUID();
    await both.psp.post('/control/hold', { operation: 'charge', at: 'during' });
    const running = charge({}, key);
    await both.untilHeld();
    const retry = await charge({}, key);
    await both.psp.release();

    expectProblem(retry, 409, 'idempotency-request-in-progress');
    expect(Number(retry.headers.get('Retry-After'))).toBeGreaterThan(0);
    const first = await running;
    expect(first.status).toBe(201);
    expect((await charge({}, key)).body).toBe(first.body);
    expect(await both.psp.charges(referenceOf(first))).toBe(1);
  });

  it('is refused under a key that charged something else', async () => {
    const key = randomUUID();
    await charge({}, key);
    expectProblem(await charge({ amount: 5000 }, key), 422, 'idempotency-key-reused');
  });

  it.each([
    ['tok_declined', 'card-declined'],
    ['tok_insufficient', 'card-insufficient-funds'],
  ])('with the card %s is refused as the card was, now and on every retry', async (card, code) => {
    const before = { calls: (await both.psp.calls()).length, clearing: await balance('clearing_usd') };
    const key = randomUUID();

    const first = await charge({ card }, key);
    const retry = await charge({ card }, key);

    expectProblem(first, 402, code);
    expectProblem(retry, 402, code);
    expect(retry.body).toBe(first.body);
    expect(retry.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await both.psp.calls()).length).toBe(before.calls + 1);
    expect(await balance('clearing_usd')).toBe(before.clearing);
  });

  it('in a currency without accounts is refused before the provider is asked', async () => {
    const before = (await both.psp.calls()).length;
    expectProblem(await charge({ currency: 'jpy' }), 422, 'currency-not-offered');
    expect((await both.psp.calls()).length).toBe(before);
  });

  it.each([
    ['no amount', { amount: undefined }],
    ['a fraction of a cent', { amount: 49.99 }],
    ['a currency in capitals', { currency: 'USD' }],
    ['the number of a card', { card: '4242424242424242' }],
    ['an unknown member', { amout: 4999 }],
  ])('refuses %s, and the corrected body may use the key', async (_, change) => {
    const key = randomUUID();
    expectProblem(await charge(change, key), 400, 'invalid-input');
    expect((await charge({ amount: 1 }, key)).status).toBe(201);
  });

  it('belongs to its merchant', async () => {
    const answer = await charge();
    const apiKey = 'sk_demo_globex';
    const { id } = answer.json;
    expectProblem(await both.demo.get(`/charges/${id}`, { apiKey }), 404, 'charge-not-found');
    expectProblem(await both.demo.post(`/charges/${id}/capture`, undefined, { apiKey }), 404, 'charge-not-found');
    const refunded = await both.demo.post(`/charges/${id}/refunds`, { amount: 1 }, { apiKey, key: randomUUID() });
    expectProblem(refunded, 404, 'charge-not-found');
  });
});

describe('a capture', () => {
  const authorized = () => charge({ capture: false });

  it('takes the money that was held, once, without a key of the caller', async () => {
    const held = await authorized();
    expect(held).toMatchObject({ status: 201, json: { status: 'authorized', captured: 0 } });
    expect(await entriesOf(held.json['id'])).toEqual([]);

    const first = await capture(held.json['id']);
    const retry = await capture(held.json['id']);

    expect(first).toMatchObject({ status: 201, json: { id: held.json['id'], status: 'captured', captured: 4999 } });
    expect(retry.body).toBe(first.body);
    expect(retry.headers.get('Idempotent-Replayed')).toBe('true');
    expect(await entriesOf(held.json['id'])).toEqual([
      { account_id: 'clearing_usd', amount: '-4999' },
      { account_id: 'sales_usd', amount: '4999' },
    ]);
    expect(await both.callsAbout(referenceOf(held), 'capture')).toHaveLength(1);
  });

  it('is refused where all was taken at once', async () => {
    const { json } = await charge();
    expectProblem(await capture(json['id']), 422, 'already-captured');
  });

  it('of a charge that is not there yet is possible when it is', async () => {
    const held = await authorized();
    const { id } = held.json;
    await both.demo.rows(`UPDATE charges SET id = 'away' WHERE id = $1`, id);
    try {
      expectProblem(await capture(id), 404, 'charge-not-found');
    } finally {
      await both.demo.rows(`UPDATE charges SET id = $1 WHERE id = 'away'`, id);
    }
    expect((await capture(id)).status).toBe(201);
  });
});

describe('a refund', () => {
  it('goes back in parts, up to what was taken', async () => {
    const { json } = await charge();
    const { id } = json;
    const before = await balance('sales_usd');

    expect(await refund(id, 1000)).toMatchObject({ status: 201, json: { chargeId: id, amount: 1000 } });
    expectProblem(await refund(id, 4000), 422, 'refund-exceeds-charge');
    expect((await refund(id, 3999)).status).toBe(201);
    expectProblem(await refund(id, 1), 422, 'refund-exceeds-charge');

    expect(await balance('sales_usd')).toBe(before - 4999);
    expect((await both.demo.get(`/charges/${id}`)).json).toMatchObject({ captured: 4999, refunded: 4999 });
  });

  it('is made once, and a retry is given the bytes of the first answer', async () => {
    const made = await charge();
    const key = randomUUID();
    const first = await refund(made.json['id'], 1000, key);
    const retry = await refund(made.json['id'], 1000, key);

    expect(retry.status).toBe(201);
    expect(retry.body).toBe(first.body);
    expect(await both.callsAbout(referenceOf(made), 'refund')).toHaveLength(1);
  });

  it('never exceeds the charge, also when several arrive at once', async () => {
    const made = await charge();
    await both.psp.post('/control/hold', { operation: 'refund', at: 'before', times: 2 });
    const running = [3000, 3000].map((amount) => refund(made.json['id'], amount));
    await both.untilHeld(2);
    await both.psp.release();
    expect((await Promise.all(running)).map(({ status }) => status).sort()).toEqual([201, 422]);
  });

  it('needs a charge whose money was taken', async () => {
    const { json } = await charge({ capture: false });
    expectProblem(await refund(json['id'], 1), 422, 'not-captured');
    expectProblem(await refund(`ch_${randomUUID()}`, 1), 404, 'charge-not-found');
  });
});

async function portOfNobody(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** What a fault of the provider's looks like to whoever asked, when it outlasts every try of one attempt. */
const FAULTS = [
  ['answers 503 before it has done anything', { kind: 'error_before' }, [409, 'idempotency-outcome-unknown']],
  ['answers 429', { kind: 'rate_limited' }, [503, 'provider-unavailable']],
  ['cuts the connection before it has done anything', { kind: 'cut_before' }, [409, 'idempotency-outcome-unknown']],
  ['does nothing and never answers', { kind: 'no_answer_before' }, [409, 'idempotency-outcome-unknown']],
  ['answers 500 when all is done', { kind: 'error_after' }, [409, 'idempotency-outcome-unknown']],
  ['cuts the connection when all is done', { kind: 'cut_after' }, [409, 'idempotency-outcome-unknown']],
  ['answers half a body when all is done', { kind: 'malformed' }, [409, 'idempotency-outcome-unknown']],
  ['never answers when all is done', { kind: 'no_answer' }, [409, 'idempotency-outcome-unknown']],
  ['answers too late', { kind: 'slow', delayMs: 60_000 }, [409, 'idempotency-outcome-unknown']],
] as const;

describe('where the provider', () => {
  it.each(FAULTS)('%s, a charge is made once when its client comes back', async (_, fault, [status, code]) => {
    const key = randomUUID();
    await both.psp.arm({ ...fault, operation: 'charge', times: TRIES });

    const first = await charge({}, key);
    expectProblem(first, status, code);
    expect(first.headers.has('Retry-After')).toBe(true);
    const answer = await untilAnswered(() => charge({}, key));

    expect(answer).toMatchObject({ status: 201, json: { captured: 4999 } });
    const calls = await both.callsAbout(referenceOf(answer), 'charge');
    expect(calls).toHaveLength(TRIES + 1);
    expect(new Set(calls.map((call) => call.key)).size).toBe(1);
    expect(await both.psp.charges(referenceOf(answer))).toBe(1);
    expect(await entriesOf(answer.json['id'])).toHaveLength(2);
    expect((await charge({}, key)).body).toBe(answer.body);
  });

  it.each(['capture', 'refund'] as const)('has done a %s and tells nobody, it is booked once', async (operation) => {
    const made = await charge({ capture: operation === 'refund' });
    const key = randomUUID();
    const send = () => (operation === 'capture' ? capture(made.json['id']) : refund(made.json['id'], 1000, key));
    await both.psp.arm({ kind: 'cut_after', operation, times: TRIES });

    expectProblem(await send(), 409, 'idempotency-outcome-unknown');
    expect((await untilAnswered(send)).status).toBe(201);

    expect(await both.callsAbout(referenceOf(made), operation)).toHaveLength(TRIES + 1);
    expect(await entriesOf(made.json['id'])).toHaveLength(operation === 'capture' ? 2 : 4);
  });

  it('fails once, nobody but the provider knows of it', async () => {
    await both.psp.arm({ kind: 'cut_after', operation: 'charge' });
    const answer = await charge();
    expect(answer.status).toBe(201);
    expect(await both.callsAbout(referenceOf(answer), 'charge')).toHaveLength(2);
    expect(await both.psp.charges(referenceOf(answer))).toBe(1);
  });

  it('refuses a retry for the moment, what the first call did is not forgotten', async () => {
    const key = randomUUID();
    await both.psp.arm({ kind: 'cut_after', operation: 'charge' });
    await both.psp.arm({ kind: 'rate_limited', operation: 'charge', times: TRIES - 1 });

    expectProblem(await charge({}, key), 409, 'idempotency-outcome-unknown');
    const answer = await untilAnswered(() => charge({}, key));

    expect(answer.status).toBe(201);
    expect(await both.psp.charges(referenceOf(answer))).toBe(1);
  });

  it('is not there, nothing is charged, and the client may come back', async () => {
    const alone = await startDemo(both.databaseUrl, { providerUrl: `http://127.0.0.1:${await portOfNobody()}` });
    const key = randomUUID();
    try {
      const answer = await alone.post('/charges', VISA, { key });
      expectProblem(answer, 503, 'provider-unavailable');
      expect(answer.headers.get('Retry-After')).toBe('1');
    } finally {
      await alone.stop();
    }
    expect((await charge({}, key)).status).toBe(201);
  });
});

describe('when the commit fails after the provider has done its part', () => {
  it('the retry books what was done, and asks for nothing more', async () => {
    const key = randomUUID();
    await both.failingCommits('charges', async () => {
      const answer = await charge({ amount: 1234 }, key);
      expect(answer.status).toBe(500);
      expect(await both.demo.rows('SELECT FROM charges WHERE amount = 1234')).toEqual([]);
    });

    const answer = await charge({ amount: 1234 }, key);

    expect(answer.status).toBe(201);
    expect(await both.callsAbout(referenceOf(answer), 'charge')).toHaveLength(1);
  });
});

describe('what no client came back for', () => {
  /** As if it had been left alone for longer than clients are waited for. */
  const leaveAlone = (endpoint: string) =>
    both.demo.rows(
      `UPDATE idempotency_steps SET intended_at = intended_at - interval '1 hour', finished_at = finished_at - interval '1 hour'
        WHERE endpoint = $1`,
      endpoint,
    );

  it('is found out and booked, with the answer that the client will be given', async () => {
    const key = randomUUID();
    await both.psp.arm({ kind: 'cut_after', operation: 'charge', times: TRIES });
    expectProblem(await charge({}, key), 409, 'idempotency-outcome-unknown');
    await leaveAlone('charges');

    expect(await both.demo.operations.reconcile()).toBe(1);
    await both.expectEqualBooks();
    const answer = await charge({}, key);

    expect(answer.headers.get('Idempotent-Replayed')).toBe('true');
    expect(answer).toMatchObject({ status: 201, json: { status: 'captured', captured: 4999 } });
    expect(answer.headers.get('Location')).toBe(`/charges/${answer.json['id']}`);
    expect(answer.headers.get('Content-Type')).toBe('application/json; charset=utf-8');
    expect((await both.demo.get(`/charges/${answer.json['id']}`)).body).toBe(answer.body);
    expect(await both.callsAbout(referenceOf(answer), 'charge')).toHaveLength(TRIES);
    expect(await both.callsAbout(referenceOf(answer), 'lookup')).toHaveLength(1);
  });

  it.each(['capture', 'refund'] as const)('is found out also of a %s', async (operation) => {
    const made = await charge({ capture: operation === 'refund' });
    const key = randomUUID();
    const send = () => (operation === 'capture' ? capture(made.json['id']) : refund(made.json['id'], 1000, key));
    await both.psp.arm({ kind: 'cut_after', operation, times: TRIES });
    expectProblem(await send(), 409, 'idempotency-outcome-unknown');
    await leaveAlone(`charge-${operation}s`);

    expect(await both.demo.operations.reconcile()).toBe(1);
    const answer = await send();

    expect(answer.status).toBe(201);
    expect(answer.headers.get('Idempotent-Replayed')).toBe('true');
    expect(await both.callsAbout(referenceOf(made), operation)).toHaveLength(TRIES);
  });

  it('is not done for it, and can still be done by the client', async () => {
    const key = randomUUID();
    await both.psp.arm({ kind: 'error_before', operation: 'charge', times: TRIES });
    expectProblem(await charge({}, key), 409, 'idempotency-outcome-unknown');
    await leaveAlone('charges');

    expect(await both.demo.operations.reconcile()).toBe(0);
    const answer = await charge({}, key);

    expect(answer.status).toBe(201);
    expect(answer.headers.has('Idempotent-Replayed')).toBe(false);
  });

  it('is refused as the card was', async () => {
    const key = randomUUID();
    await both.failingCommits('idempotency_records', async () => {
      expect((await charge({ card: 'tok_declined' }, key)).status).toBe(500);
    });
    await leaveAlone('charges');

    expect(await both.demo.operations.reconcile()).toBe(1);
    const answer = await charge({ card: 'tok_declined' }, key);

    expect(answer).toMatchObject({ status: 402, json: { status: 402, code: 'card-declined' } });
    expect(answer.headers.get('Idempotent-Replayed')).toBe('true');
  });
});
