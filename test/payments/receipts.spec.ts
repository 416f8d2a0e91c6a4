import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '../module/gate.js';
import { type Both, expectProblem, startBoth } from './both-apps.js';
import type { Answer } from './demo.js';

jest.setTimeout(60_000);

let both: Both;

beforeAll(async () => {
  both = await startBoth();
});

afterEach(() => both.expectEqualBooks());

afterAll(() => both?.stop());

const charge = (asked: object = {}, key: string = randomUUID()): Promise<Answer> =>
  both.demo.post('/charges', { amount: 4999, currency: 'usd', card: 'tok_visa', ...asked }, { key });

/** How many receipts there are to be issued. */
const jobs = async (): Promise<number> =>
  (await both.demo.rows(`SELECT FROM graphile_worker.jobs WHERE task_identifier = 'issue-receipt'`)).length;

const untilDone = (): Promise<true> => eventually('every job is done', async () => (await jobs()) === 0 || undefined);

const receiptsOf = (id: unknown): Promise<object[]> =>
  both.demo.rows('SELECT amount::int, currency FROM receipts WHERE charge_id = $1', id);

/** Keeps the worker from writing receipts, and so jobs from being done. */
const withoutReceipts = <T>(inside: () => Promise<T>): Promise<T> =>
  both.demo.holding('LOCK TABLE receipts IN SHARE MODE', inside);

describe('a receipt', () => {
  it('is issued after the charge, and can be fetched', async () => {
    const { json } = await charge();
    await untilDone();
    expect(await both.demo.get(`/charges/${json['id']}/receipt`)).toMatchObject({
      status: 200,
      json: { chargeId: json['id'], amount: 4999, currency: 'usd' },
    });
    const other = await both.demo.get(`/charges/${json['id']}/receipt`, { apiKey: 'sk_demo_globex' });
    expectProblem(other, 404, 'receipt-not-found');
  });

  it('is a job that comes with the commit, once for all retries', async () => {
    const key = randomUUID();
    const { json } = await withoutReceipts(async () => {
      const first = await charge({}, key);
      await charge({}, key);
      expect(await jobs()).toBe(1);
      expect(await both.demo.get(`/charges/${first.json['id']}/receipt`)).toMatchObject({ status: 404 });
      return first;
    });
    await untilDone();
    expect(await receiptsOf(json['id'])).toEqual([{ amount: 4999, currency: 'usd' }]);
  });

  it('is no job where the transaction that asked for it did not commit', async () => {
    const key = randomUUID();
    await withoutReceipts(async () => {
      await both.failingCommits('charges', async () => {
        expect((await charge({}, key)).status).toBe(500);
        expect(await jobs()).toBe(0);
      });
      expect((await charge({}, key)).status).toBe(201);
      expect(await jobs()).toBe(1);
    });
    await untilDone();
  });

  it.each([
    ['a card that was declined', { card: 'tok_declined' }, 402],
    ['money that is only held', { capture: false }, 201],
  ])('is not issued for %s', async (_, asked, status) => {
    await withoutReceipts(async () => {
      expect((await charge(asked)).status).toBe(status);
      expect(await jobs()).toBe(0);
    });
  });

  it('is issued when the money is taken, whoever hears of it first', async () => {
    const { json } = await charge({ capture: false });
    expect((await both.psp.post(`/charges/${json['providerId']}/capture`)).status).toBe(201);
    const receipts = await eventually('there is a receipt', async () => {
      const found = await receiptsOf(json['id']);
      return found.length > 0 ? found : undefined;
    });
    expect(receipts).toEqual([{ amount: 4999, currency: 'usd' }]);
  });

  it('is one, also where its job is done twice', async () => {
    const { json } = await charge();
    await both.demo.rows(
      `SELECT graphile_worker.add_job('issue-receipt', $1::json)`,
      JSON.stringify({ merchantId: 'mer_acme', chargeId: json['id'] }),
    );
    await untilDone();
    expect(await receiptsOf(json['id'])).toHaveLength(1);
  });
});
