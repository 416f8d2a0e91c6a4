import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';

import { until } from '../protocol/until.js';
import { type ChargingApp, startChargingApp } from './charging/app.js';
import { pay, type Provider, startProvider, World } from './world.js';

jest.setTimeout(60_000);

const POOL_SIZE = 3;
const CALLS = 30;

let world: World;
let provider: Provider;
let app: ChargingApp;

beforeAll(async () => {
  [world, provider] = await Promise.all([World.open(), startProvider()]);
  app = await startChargingApp({ url: world.url, poolSize: POOL_SIZE, idempotency: { acquireTimeoutMs: 3_000 } });
});

afterAll(async () => {
  await app?.stop();
  await Promise.all([world?.close(), provider?.stop()]);
});

it(`thirty calls that take their time hold none of three connections, and others go on meanwhile`, async () => {
  const { psp } = provider;
  const slow = await Promise.all(Array.from({ length: CALLS }, () => world.order(psp)));
  for (const { id } of slow) await psp.arm({ kind: 'hold', at: 'before', reference: id });
  const answers = slow.map((order) => pay(app.port, order));
  await until('all are with the provider', async () => {
    const { calls } = (await psp.get('/control/held')).json() as { calls: unknown[] };
    return calls.length === CALLS;
  });

  await until('the pool is at rest', () => Promise.resolve(isAtRest()));
  expect(await openTransactions()).toEqual([]);
  for (let round = 0; round < CALLS; round++) {
    const order = await world.order(psp);
    expect(await pay(app.port, order)).toMatchObject({ status: 201, isReplay: false });
  }
  const [busy] = slow;
  expect(await pay(app.port, busy!)).toMatchObject({ status: 409, code: 'idempotency-request-in-progress' });
  await until('the pool is at rest', () => Promise.resolve(isAtRest()));
  expect(await openTransactions()).toEqual([]);

  await psp.release();
  for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ status: 201, isReplay: false });
  for (const order of slow) await world.expectPaidOnce(order, psp);
  await until('the pool is at rest', () => Promise.resolve(isAtRest()));
});

function isAtRest(): boolean {
  const { totalCount, idleCount, waitingCount } = app.pool();
  expect(totalCount).toBeLessThanOrEqual(POOL_SIZE);
  return totalCount === idleCount && waitingCount === 0;
}

function openTransactions(): Promise<unknown[]> {
  return world.rows(
    `SELECT state, query FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'charging' AND xact_start IS NOT NULL`,
  );
}
