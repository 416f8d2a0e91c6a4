import { randomUUID } from 'node:crypto';
import { ConflictException } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually, gate } from '../module/gate.js';
import { pay, prepareDatabase, startWorkApp, type Work, type WorkApp } from '../module/work-app.js';
import { expectStoreUnavailable } from './problem.js';

jest.setTimeout(60_000);

const POOL_SIZE = 3;

let database: TestDatabase;
let app: WorkApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  app = await startWorkApp({
    url: database.url,
    typeorm: { poolSize: POOL_SIZE },
    idempotency: { acquireTimeoutMs: 3_000 },
  });
});

afterAll(async () => {
  await app?.stop();
  await database?.drop();
});

/** A few queries, as work has them. */
const payInSteps: Work = async (manager, run) => {
  await manager.query('SELECT count(*) FROM payments');
  await pay(manager, run, 'debit');
  await manager.transaction(async (nested) => pay(nested, run, 'credit'));
  await manager.query('SELECT count(*) FROM payments');
  return { paid: run };
};

const atRest = () => eventually('the pool is at rest', () => app.isPoolAtRest());

describe('a pool of three connections', () => {
  it('serves thirty parallel requests', async () => {
    const keys = Array.from({ length: 30 }, () => randomUUID());
    const answers = await Promise.all(keys.map((key) => app.attempt(payInSteps, key)));
    expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 201));
    for (const key of keys) expect(await app.witness.payments(key)).toEqual(['credit', 'debit']);
    await atRest();
  });

  it('serves thirty parallel requests that are refused by their handlers', async () => {
    const keys = Array.from({ length: 30 }, () => randomUUID());
    const refuse: Work = async (manager, run) => {
      await payInSteps(manager, run);
      throw new ConflictException('not today');
    };
    const answers = await Promise.all(keys.map((key) => app.attempt(refuse, key)));
    expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 409));
    const replays = await Promise.all(keys.map((key) => app.attempt(payInSteps, key)));
    expect(replays.map(({ status, headers }) => [status, headers.get('Idempotent-Replayed')])).toEqual(
      keys.map(() => [409, 'true']),
    );
    for (const key of keys) expect(await app.witness.payments(key)).toEqual([]);
    await atRest();
  });

  it('serves thirty parallel duplicates of one key: one runs, the others are refused at once', async () => {
    const key = randomUUID();
    const hold = gate();
    const work: Work = async (manager, run) => {
      await pay(manager, run, 'paid');
      await hold.passed;
      return { paid: run };
    };
    const pending = Array.from({ length: 30 }, () => app.attempt(work, key));
    const refused: number[] = [];
    for (const answer of pending) {
      void answer.then(({ status }) => {
        if (refused.push(status) === 29) hold.open();
      });
    }
    const answers = await Promise.all(pending);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(29).fill(409)]);
    expect([app.runsOf(key), await app.witness.payments(key)]).toEqual([1, ['paid']]);
    await atRest();
  });

  it('is refused when it is exhausted, within the acquire timeout, and recovers', async () => {
    const hold = gate();
    const inside: Promise<void>[] = [];
    const running = Array.from({ length: POOL_SIZE }, () => {
      const entered = gate();
      inside.push(entered.passed);
      return app.attempt(async (manager, run) => {
        await pay(manager, run, 'paid');
        entered.open();
        await hold.passed;
      });
    });
    await Promise.all(inside);
    const keys = Array.from({ length: 5 }, () => randomUUID());
    const refused = await Promise.all(keys.map((key) => app.attempt(payInSteps, key)));
    refused.forEach(expectStoreUnavailable);
    expect(keys.map((key) => app.runsOf(key))).toEqual(keys.map(() => 0));
    hold.open();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([201, 201, 201]);
    const retried = await Promise.all(keys.map((key) => app.attempt(payInSteps, key)));
    expect(retried.map(({ status }) => status)).toEqual(keys.map(() => 201));
    for (const key of keys) expect(await app.witness.payments(key)).toEqual(['credit', 'debit']);
    await atRest();
  });
});

describe('every connection comes back', () => {
  const ends: [string, number, (key: string) => Promise<number>][] = [
    ['a commit', 201, (key) => statusOf(payInSteps, key)],
    ['a replay', 201, async (key) => (await statusOf(payInSteps, key), statusOf(payInSteps, key))],
    ['a recorded refusal', 409, (key) => statusOf(refuse, key)],
    ['a failure', 500, (key) => statusOf(fail, key)],
    ['a swallowed error', 500, (key) => statusOf(swallow, key)],
    ['a mismatch', 422, async (key) => (await statusOf(payInSteps, key), statusOf(payInSteps, key, { other: true }))],
    ['a duplicate in flight', 409, duplicate],
    ['a lost claim', 503, lose],
  ];

  async function statusOf(work: Work, key: string, body?: unknown): Promise<number> {
    if (body === undefined) return (await app.attempt(work, key)).status;
    return (await app.post('/work', { key, body })).status;
  }

  const refuse: Work = () => Promise.reject(new ConflictException());
  const fail: Work = () => Promise.reject(new Error('failed'));
  const swallow: Work = (manager) => manager.query('SELECT 1 / 0').catch(() => undefined);

  async function duplicate(key: string): Promise<number> {
    const [inside, hold] = [gate(), gate()];
    const first = statusOf(async () => {
      inside.open();
      await hold.passed;
    }, key);
    await inside.passed;
    const second = (await app.post('/work', { key })).status;
    hold.open();
    await first;
    return second;
  }

  async function lose(key: string): Promise<number> {
    const { status } = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'lost');
      await app.witness.rows('DELETE FROM idempotency_records WHERE key = $1', run);
    }, key);
    expect(await app.witness.payments(key)).toEqual([]);
    return status;
  }

  it.each(ends)('after %s', async (_, expected, end) => {
    expect(await end(randomUUID())).toBe(expected);
    await atRest();
    // Were one kept each time, there would soon be none left.
    for (let again = 0; again < POOL_SIZE; again++) expect(await end(randomUUID())).toBe(expected);
    await atRest();
    const inTransaction = await app.witness.rows(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    );
    expect(inTransaction).toEqual([]);
  });
});
