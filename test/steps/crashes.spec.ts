import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { type ChargingApp, startChargingApp } from './charging/app.js';
import type { Order } from './charging/orders.js';
import { ChargingProcess, type Place } from './charging/process.js';
import { callsOf, pay, type Provider, startProvider, type Told, World } from './world.js';

jest.setTimeout(60_000);

interface Boundary {
  /** A statement of the application's, or where its call stands at the provider. */
  readonly at: Place | 'before' | 'during' | 'after';
  /** What has happened there, and can be known by whoever comes next. */
  readonly leaves: 'nothing' | 'an intent' | 'a result' | 'an answer';
}

const BOUNDARIES: [where: string, boundary: Boundary][] = [
  [
    'before its call is announced',
    { at: { statement: '^idempotency_step_intend$', when: 'before' }, leaves: 'nothing' },
  ],
  [
    'after its call is announced, before it is sent',
    { at: { statement: '^idempotency_step_intend$', when: 'after' }, leaves: 'an intent' },
  ],
  ['while the provider has its call, and has begun nothing', { at: 'before', leaves: 'an intent' }],
  ['while the provider has written, and not committed', { at: 'during', leaves: 'an intent' }],
  ['while the provider has committed, and not answered', { at: 'after', leaves: 'an intent' }],
  [
    'when the provider has answered, before the result is kept',
    { at: { statement: '^idempotency_step_finish$', when: 'before' }, leaves: 'an intent' },
  ],
  ['after the result is kept', { at: { statement: '^idempotency_step_finish$', when: 'after' }, leaves: 'a result' }],
  [
    'inside its final transaction, after its writes',
    { at: { statement: '^INSERT INTO ledger', when: 'after' }, leaves: 'a result' },
  ],
  [
    'inside its final transaction, after its recording',
    { at: { statement: '^idempotency_record$', when: 'after' }, leaves: 'a result' },
  ],
  ['right before its COMMIT', { at: { statement: '^COMMIT$', when: 'before' }, leaves: 'a result' }],
  ['after its COMMIT, before it has answered', { at: { statement: '^COMMIT$', when: 'after' }, leaves: 'an answer' }],
];

let world: World;
let provider: Provider;
let survivor: ChargingApp;
const retried = new Map<Boundary, Order>();
const abandoned = new Map<Boundary, Order>();

/** One process stands at every boundary, twice, and is killed there. */
beforeAll(async () => {
  [world, provider] = await Promise.all([World.open(), startProvider()]);
  survivor = await startChargingApp({ url: world.url });
  const doomed = await ChargingProcess.start({ url: world.url, poolSize: 3 * BOUNDARIES.length });
  try {
    const answers: Promise<Told>[] = [];
    for (const [, boundary] of BOUNDARIES) {
      for (const orders of [retried, abandoned]) {
        const order = await world.order(provider.psp);
        orders.set(boundary, order);
        answers.push((await standAt(doomed, boundary.at, order)).answer);
      }
    }
    await doomed.kill();
    // No byte of an answer came.
    expect(await Promise.all(answers)).toEqual(answers.map(() => expect.objectContaining({ status: 0, body: '' })));
  } finally {
    await doomed.kill();
  }
  await world.untilNoTransactionIsOpen();
});

afterAll(async () => {
  await survivor?.stop();
  await Promise.all([world?.close(), provider?.stop()]);
});

describe.each(BOUNDARIES)('a process that is killed %s', (_, boundary) => {
  const { leaves } = boundary;

  it('has its order paid once by the retry', async () => {
    const order = retried.get(boundary)!;
    const early = await pay(survivor.port, order);
    if (leaves === 'an answer') expect(early).toMatchObject({ status: 201, isReplay: true });
    else expect(early).toMatchObject({ status: 409, code: 'idempotency-request-in-progress' });
    await world.pass(order);

    // What the dead process has asked of the provider can still be under way there.
    let told = await pay(survivor.port, order);
    if (boundary.at === 'during') {
      expect(told).toMatchObject({ status: 409, code: 'idempotency-outcome-unknown' });
      await releaseCallOf(order);
      told = await pay(survivor.port, order);
    }
    expect(told).toMatchObject({ status: 201, isReplay: leaves === 'an answer' });
    await releaseCallOf(order);

    await expectPaidOnce(order);
    expect(await pay(survivor.port, order)).toMatchObject({ status: 201, isReplay: true, body: told.body });
    await expectPaidOnce(order);
  });

  it('has its order paid once by the reconciler alone', async () => {
    const order = abandoned.get(boundary)!;
    expect(await survivor.operations.reconcile()).toBe(0);
    await world.pass(order);
    let settled = await survivor.operations.reconcile();
    if (boundary.at === 'during') {
      expect(settled).toBe(0);
      await releaseCallOf(order);
      settled = await survivor.operations.reconcile();
    }
    if (leaves === 'nothing') {
      expect(settled).toBe(0);
      await world.expectNotPaid(order, provider.psp);
      return;
    }
    expect(settled).toBe(leaves === 'an answer' ? 0 : 1);
    await releaseCallOf(order);

    await expectPaidOnce(order);
    const [entry] = await world.ledger(order);
    const body = JSON.stringify({ order: order.id, ...entry });
    expect(await pay(survivor.port, order)).toMatchObject({ status: 201, isReplay: true, body });
    await expectPaidOnce(order);
  });

  async function expectPaidOnce(order: Order): Promise<void> {
    await world.expectPaidOnce(order, provider.psp);
    const calls = await callsOf(provider.psp, order);
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
    if (leaves !== 'an intent' && leaves !== 'nothing') expect(calls).toHaveLength(1);
  }
});

/** Has an order paid by the process that is to die, up to the place where it is to die; its answer is still to come. */
async function standAt(doomed: ChargingProcess, at: Boundary['at'], order: Order): Promise<{ answer: Promise<Told> }> {
  const { psp } = provider;
  if (typeof at === 'string') {
    await psp.arm({ kind: 'hold', at, reference: order.id });
    const answer = pay(doomed.port, order);
    await psp.untilHeld(order.id);
    return { answer };
  }
  const { reached } = await doomed.stopAt(at);
  const answer = pay(doomed.port, order);
  await reached;
  return { answer };
}

/** Lets the provider go on with a call that it holds. */
async function releaseCallOf({ id }: Order): Promise<void> {
  const held = (await provider.psp.calls()).find((call) => call.references.includes(id) && call.heldAt !== null);
  if (held) await provider.psp.post('/control/release', { call: held.id });
}
