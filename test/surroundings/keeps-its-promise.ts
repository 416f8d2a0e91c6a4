import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  IdempotencyHealth,
  IdempotencyService,
  type IdempotentOperation,
  IdempotentOperations,
} from 'nestjs-idempotency';

import { eventually, gate } from '../module/gate.js';
import { pay, startWorkApp, type Work, type WorkApp, type WorkAppOptions } from '../module/work-app.js';

/** What an application finds around it. */
export type Surroundings = Pick<WorkAppOptions, 'url' | 'appUrl' | 'typeorm' | 'idempotency'>;

/** Renewed when a third of it is over; a machine that stands still for the rest ends the transaction of the work. */
const LEASE_MS = 6_000;

const STRATEGIES = ['lease', 'transaction'] as const;

/**
 * Declares the tests of what the library promises, of two applications in the same surroundings: one claims by leases,
 * the other by transactions. Everything that the library does to its database is done.
 */
export function keepsItsPromise(surroundings: () => Surroundings | Promise<Surroundings>): void {
  let apps: Record<(typeof STRATEGIES)[number], WorkApp>;
  let key: string;

  beforeAll(async () => {
    const given = await surroundings();
    const start = (claim: (typeof STRATEGIES)[number]) =>
      startWorkApp({
        ...given,
        idempotency: {
          providerKeySecret: 'the secret of the tests',
          leaseMs: LEASE_MS,
          sweep: false,
          ...given.idempotency,
          claim,
        },
      });
    apps = { lease: await start('lease'), transaction: await start('transaction') };
  });

  afterAll(async () => {
    await apps?.lease.stop();
    await apps?.transaction.stop();
  });

  beforeEach(() => {
    key = randomUUID();
  });

  const payments = () => apps.lease.witness.payments(key);
  const paying: Work = async (manager, run) => {
    await pay(manager, run, 'paid');
    return { run };
  };

  describe.each(STRATEGIES)('claimed by %s', (strategy) => {
    it('an operation is run once, replayed, and compared', async () => {
      const app = apps[strategy];
      const first = await app.attempt(paying, key);
      expect([first.status, first.body]).toEqual([201, JSON.stringify({ run: key })]);
      const again = await app.attempt(paying, key);
      expect([again.status, again.body, again.headers.get('Idempotent-Replayed')]).toEqual([201, first.body, 'true']);
      const other = await app.post('/work', { key, body: { another: 'request' } });
      expect([other.status, JSON.parse(other.body)]).toEqual([
        422,
        expect.objectContaining({ code: 'idempotency-key-reused' }),
      ]);
      expect([app.runsOf(key), await payments()]).toEqual([1, ['paid']]);
    });

    it('a duplicate in flight is turned away', async () => {
      const app = apps[strategy];
      const [entered, go] = [gate(), gate()];
      const first = app.attempt(async (manager, run) => {
        await pay(manager, run, 'paid');
        entered.open();
        await go.passed;
      }, key);
      await entered.passed;
      const duplicate = await app.post('/work', { key });
      expect([duplicate.status, JSON.parse(duplicate.body)]).toEqual([
        409,
        expect.objectContaining({ code: 'idempotency-request-in-progress' }),
      ]);
      expect(Number(duplicate.headers.get('Retry-After'))).toBeGreaterThan(0);
      go.open();
      expect([(await first).status, app.runsOf(key), await payments()]).toEqual([201, 1, ['paid']]);
    });

    it('work that fails is undone, and may run again at once', async () => {
      const app = apps[strategy];
      const failing: Work = async (manager, run) => {
        await pay(manager, run, 'undone');
        throw new Error('The handler failed.');
      };
      expect([(await app.attempt(failing, key)).status, await payments()]).toEqual([500, []]);
      expect([(await app.attempt(paying, key)).status, await payments()]).toEqual([201, ['paid']]);
    });
  });

  it('a claim that was taken over commits nothing, and its client gets what the other recorded', async () => {
    const app = apps.lease;
    const [entered, go] = [gate(), gate()];
    const first = app.attempt(async (manager, run) => {
      await pay(manager, run, 'loser');
      entered.open();
      await go.passed;
    }, key);
    await entered.passed;
    await app.witness.rows(
      `UPDATE idempotency_records SET locked_until = now() - interval '1 hour', token = gen_random_uuid() WHERE key = $1`,
      key,
    );
    const winner = await app.attempt(paying, key);
    expect(winner.status).toBe(201);
    go.open();
    const late = await first;
    expect([late.status, late.body, late.headers.get('Idempotent-Replayed')]).toEqual([201, winner.body, 'true']);
    expect(await payments()).toEqual(['paid']);
  });

  it('a lease is renewed while its work runs', async () => {
    const app = apps.lease;
    const [entered, go] = [gate(), gate()];
    const running = app.attempt(async (manager, run) => {
      entered.open();
      await go.passed;
      await pay(manager, run, 'paid');
    }, key);
    await entered.passed;
    await eventually('the lease is renewed', async () => {
      const sql = `SELECT FROM idempotency_records WHERE key = $1 AND locked_until - locked_at > $2 * interval '1 ms'`;
      return (await app.witness.rows(sql, key, LEASE_MS)).length === 1;
    });
    go.open();
    expect([(await running).status, await payments()]).toEqual([201, ['paid']]);
  });

  it('an outside call is on record before it is made, and goes on under its key', async () => {
    const { app, witness } = apps.lease;
    const calls: string[] = [];
    const work = async (operation: IdempotentOperation) => {
      const charge = await operation.step('charge', async ({ providerKey }) => {
        const sql = 'SELECT provider_key FROM idempotency_steps WHERE key = $1';
        expect(await witness.rows(sql, key)).toEqual([{ provider_key: providerKey }]);
        calls.push(providerKey);
        if (calls.length === 1) throw new Error('The connection broke.');
        return 'charged';
      });
      return operation.commit((manager) => pay(manager, key, charge));
    };
    const run = () =>
      app.get(IdempotencyService).run({ endpoint: 'charges', key, payload: {}, transaction: 'manual' }, work);
    await expect(run()).rejects.toMatchObject({ code: 'idempotency-outcome-unknown' });
    await run();
    expect([new Set(calls).size, calls.length, await payments()]).toEqual([1, 2, ['charged']]);
    expect(await witness.rows('SELECT FROM idempotency_steps WHERE key = $1', key)).toEqual([]);
  });

  it('what is past its retention is swept, whoever has it, and the tables are found to be healthy', async () => {
    const { app, witness, attempt } = apps.lease;
    await attempt(paying, key);
    const sql = `UPDATE idempotency_records SET expires_at = now() - interval '1 day' WHERE key = $1`;
    await witness.rows(sql, key);
    expect(await app.get(IdempotentOperations).sweep()).toBeGreaterThan(0);
    expect(await witness.rows('SELECT FROM idempotency_records WHERE key = $1', key)).toEqual([]);
    expect(await app.get(IdempotentOperations).reconcile()).toBe(0);
    expect(await app.get(IdempotencyHealth).check()).toEqual({ status: 'up' });
  });
}
