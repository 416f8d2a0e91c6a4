import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type StepOutcome } from 'nestjs-idempotency';

import type { Psp } from '../psp/psp.js';
import { type ChargingApp, startChargingApp } from './charging/app.js';
import type { Order } from './charging/orders.js';
import { callsOf, pay, type Provider, startProvider, World } from './world.js';

jest.setTimeout(60_000);

interface Failure {
  readonly kind: string;
  readonly delayMs?: number;
  /** The provider has the money. */
  readonly hasEffect: boolean;
  /** What the one who made the call can know of it. */
  readonly is: 'known' | 'unknown' | 'no_effect';
  readonly deadlineMs?: number;
}

const FAILURES: Failure[] = [
  { kind: 'slow', delayMs: 20, hasEffect: true, is: 'known' },
  { kind: 'error_before', hasEffect: false, is: 'unknown' },
  { kind: 'error_after', hasEffect: true, is: 'unknown' },
  { kind: 'cut_before', hasEffect: false, is: 'unknown' },
  { kind: 'cut_after', hasEffect: true, is: 'unknown' },
  { kind: 'no_answer', hasEffect: true, is: 'unknown', deadlineMs: 300 },
  { kind: 'no_answer_before', hasEffect: false, is: 'unknown', deadlineMs: 300 },
  { kind: 'rate_limited', hasEffect: false, is: 'no_effect' },
  { kind: 'malformed', hasEffect: true, is: 'unknown' },
];
const UNKNOWN = FAILURES.filter(({ is }) => is === 'unknown');
const titled = (failures: Failure[]) => failures.map((failure) => [failure.kind, failure] as const);

let world: World;
let app: ChargingApp;
/** It keeps keys; it ignores them, and can be asked; it does neither. */
let keeping: Provider;
let searchable: Provider;
let blind: Provider;

beforeAll(async () => {
  world = await World.open();
  [keeping, searchable, blind] = await Promise.all([
    startProvider(),
    startProvider({ keys: 'ignored' }),
    startProvider({ keys: 'ignored', search: 'off' }),
  ]);
  app = await startChargingApp({ url: world.url });
});

afterAll(async () => {
  await app?.stop();
  await Promise.all([world?.close(), keeping?.stop(), searchable?.stop(), blind?.stop()]);
});

/** An order whose first call will fail so. */
async function orderThatFails(psp: Psp, failure: Failure, terms: Partial<Order>): Promise<Order> {
  const { kind, delayMs, deadlineMs } = failure;
  const order = await world.order(psp, { ...(deadlineMs && { deadlineMs }), ...terms });
  await psp.arm({ kind, reference: order.id, operation: 'charge', ...(delayMs && { delayMs }) });
  return order;
}

/** The first answer tells what is known, and nothing was booked on a guess. */
async function expectFirstTold(order: Order, psp: Psp, { is, hasEffect }: Failure): Promise<void> {
  const told = await pay(app.port, order);
  if (is === 'known') return expect(told).toMatchObject({ status: 201, isReplay: false });
  expect(await psp.charges(order.id)).toBe(hasEffect ? 1 : 0);
  expect(await world.ledger(order)).toEqual([]);
  if (is === 'unknown') {
    expect(told).toMatchObject({ status: 409, code: 'idempotency-outcome-unknown', retryAfter: '1' });
    expect(await world.steps(order)).toMatchObject([{ name: 'charge', tries: 1, result: null }]);
  } else {
    expect(told.status).toBe(500);
    expect(await world.steps(order)).toEqual([]);
  }
}

async function expectPaidOnce(order: Order, psp: Psp): Promise<void> {
  await world.expectPaidOnce(order, psp);
  const calls = await callsOf(psp, order);
  const last = await pay(app.port, order);
  expect(last).toMatchObject({ status: 201, isReplay: true });
  expect(await callsOf(psp, order)).toEqual(calls);
  await world.expectPaidOnce(order, psp);
}

describe.each(titled(FAILURES))('a provider that fails by %s', (_, failure) => {
  it('and keeps keys, charges once: the retry calls it again under the same key', async () => {
    const { psp } = keeping;
    const order = await orderThatFails(psp, failure, { whenUnknown: 'repeat' });
    await expectFirstTold(order, psp, failure);
    expect(await pay(app.port, order)).toMatchObject({ status: 201, isReplay: failure.is === 'known' });
    const calls = await callsOf(psp, order);
    expect(calls).toHaveLength(failure.is === 'known' ? 1 : 2);
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
    await expectPaidOnce(order, psp);
  });

  it('and keeps keys, charges once within one request that tries again', async () => {
    const { psp } = keeping;
    const order = await orderThatFails(psp, failure, { whenUnknown: 'repeat', tries: 2 });
    expect(await pay(app.port, order)).toMatchObject({ status: 201, isReplay: false });
    expect(await callsOf(psp, order)).toHaveLength(failure.is === 'known' ? 1 : 2);
    await expectPaidOnce(order, psp);
  });

  it('and ignores keys, charges once: the retry asks it first', async () => {
    const { psp } = searchable;
    const order = await orderThatFails(psp, failure, { whenUnknown: 'look_up' });
    await expectFirstTold(order, psp, failure);
    await world.pass(order);
    expect(await pay(app.port, order)).toMatchObject({ status: 201, isReplay: failure.is === 'known' });
    expect(await callsOf(psp, order)).toHaveLength(failure.hasEffect ? 1 : 2);
    await expectPaidOnce(order, psp);
  });
});

describe.each(titled(UNKNOWN))('a provider that fails by %s, ignores keys and cannot be asked', (_, failure) => {
  const resolve = (order: Order, outcome: StepOutcome) =>
    app.operations.resolve({ tenant: '', endpoint: 'charges', key: order.id }, 'charge', outcome);

  async function heldOrder(): Promise<Order> {
    const { psp } = blind;
    const order = await orderThatFails(psp, failure, { whenUnknown: 'hold', tries: 3 });
    await expectFirstTold(order, psp, failure);
    for (const come of [() => pay(app.port, order), () => app.operations.reconcile(), () => pay(app.port, order)]) {
      await world.pass(order);
      const told = await come();
      if (typeof told === 'number') expect(told).toBe(0);
      else expect(told).toMatchObject({ status: 409, code: 'idempotency-outcome-unknown' });
    }
    expect(await callsOf(psp, order)).toHaveLength(1);
    expect(await world.steps(order)).toMatchObject([{ name: 'charge', result: null }]);
    return order;
  }

  if (failure.hasEffect) {
    it('has its order held until somebody says that the charge happened, and books it then', async () => {
      const { psp } = blind;
      const order = await heldOrder();
      const [charge] = await psp.rows<{ id: string; amount: number }>(
        'SELECT id, amount::int FROM charges WHERE reference = $1',
        order.id,
      );
      expect(await resolve(order, { kind: 'happened', value: charge })).toBeNull();
      expect(await pay(app.port, order)).toMatchObject({ status: 201, isReplay: false });
      expect(await callsOf(psp, order)).toHaveLength(1);
      await expectPaidOnce(order, psp);
    });
  } else {
    it('has its order held until somebody says that the charge did not happen, and charges then', async () => {
      const { psp } = blind;
      const order = await heldOrder();
      expect(await resolve(order, { kind: 'did_not_happen' })).toBeNull();
      expect(await world.steps(order)).toEqual([]);
      expect(await pay(app.port, order)).toMatchObject({ status: 201, isReplay: false });
      expect(await callsOf(psp, order)).toHaveLength(2);
      await expectPaidOnce(order, psp);
    });

    it('has its order held until somebody says that the charge was refused, and says so then', async () => {
      const { psp } = blind;
      const order = await heldOrder();
      expect(await resolve(order, { kind: 'refused', message: 'The bank says no.' })).toBeNull();
      const told = await pay(app.port, order);
      expect(told).toMatchObject({ status: 422, code: 'idempotency-step-refused', isReplay: false });
      expect(await pay(app.port, order)).toMatchObject({ status: 422, body: told.body, isReplay: true });
      expect(await callsOf(psp, order)).toHaveLength(1);
      expect(await world.steps(order)).toEqual([]);
      await world.expectNotPaid(order, psp);
    });
  }
});

describe('a card that is declined', () => {
  it.each([
    ['repeat', () => keeping],
    ['look_up', () => searchable],
    ['hold', () => blind],
  ] as const)('is recorded as refused and never tried again (%s)', async (whenUnknown, provider) => {
    const { psp } = provider();
    const order = await world.order(psp, { card: 'tok_declined', whenUnknown, tries: 3 });
    const told = await pay(app.port, order);
    expect(told).toMatchObject({ status: 422, code: 'idempotency-step-refused', isReplay: false });
    expect(await pay(app.port, order)).toMatchObject({ status: 422, body: told.body, isReplay: true });
    expect(await callsOf(psp, order)).toHaveLength(1);
    expect(await world.steps(order)).toEqual([]);
    await world.expectNotPaid(order, psp);
  });
});

describe('a call that certainly failed', () => {
  it('says nothing of the one before it, of which nobody knows', async () => {
    const { psp } = keeping;
    const order = await world.order(psp, { whenUnknown: 'repeat' });
    await psp.arm({ kind: 'error_after', reference: order.id, operation: 'charge' });
    await psp.arm({ kind: 'rate_limited', reference: order.id, operation: 'charge' });
    for (const tries of [1, 2]) {
      expect(await pay(app.port, order)).toMatchObject({ status: 409, code: 'idempotency-outcome-unknown' });
      expect(await world.steps(order)).toMatchObject([{ tries, result: null }]);
    }
    expect(await pay(app.port, order)).toMatchObject({ status: 201, isReplay: false });
    await expectPaidOnce(order, psp);
  });
});
