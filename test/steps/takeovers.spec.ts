import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { until } from '../protocol/until.js';
import type { Order } from './charging/orders.js';
import { ChargingProcess, type Place } from './charging/process.js';
import { pay, type Provider, startProvider, type Told, World } from './world.js';

jest.setTimeout(60_000);

let world: World;
let provider: Provider;
let loser: ChargingProcess;
let winner: ChargingProcess;

beforeAll(async () => {
  [world, provider] = await Promise.all([World.open(), startProvider()]);
  const start = () => ChargingProcess.start({ url: world.url });
  [loser, winner] = await Promise.all([start(), start()]);
});

afterAll(async () => {
  await Promise.all([loser?.kill(), winner?.kill()]);
  await Promise.all([world?.close(), provider?.stop()]);
});

/** Whoever lost is told what the winner did, or to come back; and then it is as the winner said. */
async function expectPaidOnceAndToldSo(order: Order, won: Told, lost: Told): Promise<void> {
  expect(won).toMatchObject({ status: 201, isReplay: false });
  if (lost.status === 201) expect(lost).toEqual({ ...won, isReplay: true });
  else expect([lost.status, lost.code]).toEqual([409, 'idempotency-request-in-progress']);
  await world.expectPaidOnce(order, provider.psp);
  for (const { port } of [loser, winner]) expect(await pay(port, order)).toEqual({ ...won, isReplay: true });
  await world.expectPaidOnce(order, provider.psp);
}

describe('a lease that runs out while the provider has the call', () => {
  it.each(['before', 'after'] as const)(
    'lets another process pay once, and the first is told what it did (held %s its effect)',
    async (at) => {
      const { psp } = provider;
      const order = await world.order(psp);
      await psp.arm({ kind: 'hold', at, reference: order.id });
      const first = pay(loser.port, order);
      await psp.untilHeld(order.id);
      await world.pass(order);

      const second = await pay(winner.port, order);
      await psp.release();

      await expectPaidOnceAndToldSo(order, second, await first);
    },
  );

  it('has a result that comes too late thrown away: who announced the call last finds it out', async () => {
    const { psp } = provider;
    const order = await world.order(psp);
    await psp.arm({ kind: 'hold', at: 'during', reference: order.id });
    const first = pay(loser.port, order);
    await psp.untilHeld(order.id);
    await world.pass(order);

    // The provider has the key in use, and cannot say yet what will become of it.
    const second = await pay(winner.port, order);
    expect(second).toMatchObject({ status: 409, code: 'idempotency-outcome-unknown' });
    await psp.release();
    const late = await first;

    expect([late.status, late.code]).toEqual([409, 'idempotency-request-in-progress']);
    expect(await psp.charges(order.id)).toBe(1);
    expect(await world.ledger(order)).toEqual([]);
    expect(await world.steps(order)).toMatchObject([{ tries: 2, result: null }]);
    await expectPaidOnceAndToldSo(order, await pay(winner.port, order), late);
  });

  it('keeps the result of the first for the second, which has not announced the call yet', async () => {
    const { psp } = provider;
    const order = await world.order(psp);
    await psp.arm({ kind: 'hold', at: 'after', reference: order.id });
    const first = pay(loser.port, order);
    await psp.untilHeld(order.id);
    await world.pass(order);
    const { reached } = await winner.stopAt({ statement: '^idempotency_claim$', when: 'after' });
    const second = pay(winner.port, order);
    await reached;

    await psp.release();
    const lost = await first;
    expect(await world.steps(order)).toMatchObject([{ tries: 1, result: expect.any(String) }]);
    winner.goOn();

    await expectPaidOnceAndToldSo(order, await second, lost);
    expect((await psp.calls()).filter(({ references }) => references.includes(order.id))).toHaveLength(1);
  });
});

describe('a successor that comes while the operation is being recorded', () => {
  it('waits for it, and neither stands in the way of the other', async () => {
    const order = await world.order(provider.psp);
    const forgetting = await loser.stopAt({ statement: '^idempotency_step_forget$', when: 'before' });
    const first = pay(loser.port, order);
    await forgetting.reached;
    await world.pass(order);
    const recording = await loser.stopAt({ statement: '^idempotency_record$', when: 'before' });
    loser.goOn();
    await recording.reached;

    const second = pay(winner.port, order);
    expect(await second).toMatchObject({ status: 409, code: 'idempotency-request-in-progress' });
    loser.goOn();

    expect(await first).toMatchObject({ status: 201, isReplay: false });
    await world.expectPaidOnce(order, provider.psp);
    expect(await pay(winner.port, order)).toEqual({ ...(await first), isReplay: true });
  });

  it('and had the operation before, is the one to record it', async () => {
    const order = await world.order(provider.psp);
    const forgetting = await loser.stopAt({ statement: '^idempotency_step_forget$', when: 'before' });
    const first = pay(loser.port, order);
    await forgetting.reached;
    await world.pass(order);
    const announcing = await winner.stopAt({ statement: '^idempotency_step_intend$', when: 'before' });
    const second = pay(winner.port, order);
    await announcing.reached;
    loser.goOn();
    const lost = await first;
    winner.goOn();
    await expectPaidOnceAndToldSo(order, await second, lost);
  });
});

const PLACES: [where: string, place: Place][] = [
  ['between the announcement of its call and the call', { statement: '^idempotency_step_intend$', when: 'after' }],
  ['with the answer, before it is kept', { statement: '^idempotency_step_finish$', when: 'before' }],
  ['as its final transaction begins', { statement: '^BEGIN', when: 'after' }],
  ['before its recording', { statement: '^idempotency_record$', when: 'before' }],
  ['before its COMMIT', { statement: '^COMMIT$', when: 'before' }],
];

describe.each(PLACES)('a process that is paused past its lease %s', (_, place) => {
  it('pays nothing more, and tells what its successor did', async () => {
    const order = await world.order(provider.psp);
    const { reached } = await loser.stopAt(place);
    const first = pay(loser.port, order);
    await reached;
    loser.signal('SIGSTOP');
    loser.goOn();
    let second: Told;
    try {
      second = await payUntilDone(winner, order);
    } finally {
      loser.signal('SIGCONT');
    }
    await expectPaidOnceAndToldSo(order, second, await first);
  });
});

/** Retries as a client does, long after each refusal. */
async function payUntilDone({ port }: ChargingProcess, order: Order): Promise<Told> {
  let told: Told | undefined;
  await until('the successor is let in', async () => {
    // A recording that waits for its COMMIT locks the row, until the server ends its transaction.
    if ((await isRecordLocked(order)) === false) await world.pass(order);
    told = await pay(port, order);
    return told.status !== 409;
  });
  return told!;
}

async function isRecordLocked({ id }: Order): Promise<boolean> {
  const free = await world.rows('SELECT FROM idempotency_records WHERE key = $1 FOR UPDATE SKIP LOCKED', id);
  return free.length === 0;
}
