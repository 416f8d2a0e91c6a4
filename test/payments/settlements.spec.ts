import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { IdempotencyService, type Settlement } from 'nestjs-idempotency';
import { bankOf, SETTLEMENT_ARRIVED } from '../../apps/payments/src/settlements/settlement-event.js';
import { SETTLEMENTS } from '../../apps/payments/src/settlements/settlements-endpoint.js';
import { SettlementsService } from '../../apps/payments/src/settlements/settlements.service.js';
import { type Both, startBoth } from './both-apps.js';

jest.setTimeout(60_000);

let both: Both;

beforeAll(async () => {
  both = await startBoth();
});

afterEach(() => both.expectEqualBooks());

afterAll(() => both?.stop());

/** A charge, and the event that its money has arrived. */
async function settledCharge(data: object = {}, charged: object = {}) {
  const asked = { amount: 4999, currency: 'usd', card: 'tok_visa', ...charged };
  const { json } = await both.demo.post('/charges', asked, { key: randomUUID() });
  const charge = json['id'] as string;
  return { charge, event: eventOf({ charge: `mer_acme/${charge}`, ...data }) };
}

const eventOf = (data: object) => ({
  specversion: '1.0',
  type: SETTLEMENT_ARRIVED,
  source: '/banks/demo',
  id: randomUUID(),
  data: { id: randomUUID(), amount: 4999, currency: 'usd', settledAt: '2026-11-27T06:00:00Z', ...data },
});

/** What both consumers do with an event. */
function deliver(event: unknown): Promise<Settlement> {
  const settlements = both.demo.app.get(SettlementsService, { strict: false });
  return both.demo.app
    .get(IdempotencyService, { strict: false })
    .consume({ endpoint: SETTLEMENTS, tenant: bankOf(event) ?? '', payload: event }, ({ manager }) =>
      settlements.post(manager, event),
    );
}

const settlementsOf = (charge: string): Promise<object[]> =>
  both.demo.rows('SELECT amount::int, currency, settled_at FROM settlements WHERE charge_id = $1', charge);

const entriesOf = (charge: string): Promise<object[]> =>
  both.demo.rows(
    'SELECT account_id, amount::int FROM ledger_entries WHERE charge_id = $1 AND settlement_id IS NOT NULL ORDER BY id',
    charge,
  );

describe('a settlement', () => {
  it('moves what the provider holds to the bank', async () => {
    const { charge, event } = await settledCharge();
    expect(await deliver(event)).toMatchObject({ kind: 'acknowledge', outcome: { kind: 'executed' } });
    expect(await settlementsOf(charge)).toEqual([
      { amount: 4999, currency: 'usd', settled_at: new Date('2026-11-27T06:00:00Z') },
    ]);
    expect(await entriesOf(charge)).toEqual([
      { account_id: 'bank_usd', amount: -4999 },
      { account_id: 'clearing_usd', amount: 4999 },
    ]);
    expect((await both.demo.get(`/ledger?charge=${charge}`)).json).toMatchObject({ sum: 0 });
  });

  it('is posted once, however often its event comes, and however it is written', async () => {
    const { charge, event } = await settledCharge();
    const again = Object.fromEntries(Object.entries(event).reverse());
    for (const how of ['executed', 'replayed', 'replayed']) {
      expect(await deliver(how === 'executed' ? event : again)).toMatchObject({
        kind: 'acknowledge',
        outcome: { kind: how, value: { settlement: event.data.id } },
      });
    }
    expect(await entriesOf(charge)).toHaveLength(2);
  });

  it('is posted once where its event comes twice at once', async () => {
    const { charge, event } = await settledCharge();
    const { first, second } = await both.demo.holding(
      `SELECT FROM accounts WHERE id = 'bank_usd' AND merchant_id = 'mer_acme' FOR UPDATE`,
      async () => {
        const first = deliver(event);
        await both.demo.waiting(1);
        return { first, second: await deliver(event) };
      },
    );
    expect(second).toMatchObject({ kind: 'retry', error: { code: 'idempotency-request-in-progress' } });
    expect(await first).toMatchObject({ kind: 'acknowledge' });
    expect(await entriesOf(charge)).toHaveLength(2);
  });

  it('is put aside where its event says something else than before', async () => {
    const { charge, event } = await settledCharge();
    await deliver(event);
    const other = { ...event, data: { ...event.data, amount: 1 } };
    expect(await deliver(other)).toMatchObject({ kind: 'park', reason: 'mismatch' });
    expect(await entriesOf(charge)).toHaveLength(2);
  });

  it('in parts is posted up to what was taken', async () => {
    const { charge, event } = await settledCharge({ amount: 4000 });
    await deliver(event);
    const rest = eventOf({ charge: `mer_acme/${charge}`, amount: 999 });
    expect(await deliver(eventOf({ charge: `mer_acme/${charge}`, amount: 1000 }))).toMatchObject({ kind: 'retry' });
    expect(await deliver(rest)).toMatchObject({ kind: 'acknowledge' });
    expect(await settlementsOf(charge)).toMatchObject([{ amount: 4000 }, { amount: 999 }]);
  });

  it('is not posted under a name that the bank gave to another, whatever its event is called', async () => {
    const { charge, event } = await settledCharge({ amount: 1000 });
    await deliver(event);
    const other = { ...event, id: randomUUID() };
    expect(await deliver(other)).toMatchObject({ kind: 'retry' });
    expect(await entriesOf(charge)).toHaveLength(2);
  });

  it.each([
    ['a charge that is not there', { charge: `mer_acme/ch_${randomUUID()}` }, {}],
    ['money that is only held', {}, { capture: false }],
    ['another currency', { currency: 'eur' }, {}],
    ['no amount', { amount: 0 }, {}],
    ['a charge of nobody', { charge: 'ch_1' }, {}],
    ['no day', { settledAt: 'soon' }, {}],
  ])('of %s is undone, and tried again', async (_, data, charged) => {
    const { charge, event } = await settledCharge(data, charged);
    expect(await deliver(event)).toMatchObject({ kind: 'retry' });
    expect(await settlementsOf(charge)).toEqual([]);
  });

  it.each([
    ['another bank', { source: '/banks/other' }, 'unscoped'],
    ['an event without an id', { id: undefined }, 'unidentified'],
  ])('of %s is put aside', async (_, said, reason) => {
    const { charge, event } = await settledCharge();
    expect(await deliver({ ...event, ...said })).toMatchObject({ kind: 'park', reason });
    expect(await settlementsOf(charge)).toEqual([]);
  });
});
