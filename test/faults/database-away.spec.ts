import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually, gate } from '../module/gate.js';
import type { Answer } from '../module/listening.js';
import { pay, prepareDatabase, startWorkApp, type WorkApp } from '../module/work-app.js';
import { DatabaseProxy } from './database-proxy.js';
import { expectStoreUnavailable } from './problem.js';

jest.setTimeout(60_000);

const STATEMENT_TIMEOUT_MS = 500;

let database: TestDatabase;
let proxy: DatabaseProxy;
let app: WorkApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  proxy = await DatabaseProxy.to(database.url);
  app = await startWorkApp({
    url: database.url,
    appUrl: proxy.url,
    typeorm: { poolSize: 3 },
    idempotency: { acquireTimeoutMs: 1_000, statementTimeoutMs: STATEMENT_TIMEOUT_MS },
  });
});

afterEach(async () => {
  await proxy.heal();
});

afterAll(async () => {
  await app?.stop();
  await proxy?.close();
  await database?.drop();
});

const payOnce = (manager: Parameters<typeof pay>[0], run: string) => pay(manager, run, 'paid');

/** The key works as if nothing had happened: one payment, and a replay of its answer. */
async function expectRecovery(key: string): Promise<void> {
  await proxy.heal();
  const answer = await eventually('the database is back', async () => {
    const tried = await app.attempt(payOnce, key);
    return tried.status === 503 ? null : tried;
  });
  await expectPaidOnce(key, answer);
}

async function expectPaidOnce(key: string, answer: Answer): Promise<void> {
  expect([answer.status, answer.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
  const replay = await app.attempt(payOnce, key);
  expect([replay.status, replay.headers.get('Idempotent-Replayed')]).toEqual([201, 'true']);
  expect(await app.witness.payments(key)).toEqual(['paid']);
  await eventually('the pool is at rest', () => app.isPoolAtRest());
}

async function expectRefusal(key: string): Promise<void> {
  expectStoreUnavailable(await app.attempt(payOnce, key));
  expect(app.runsOf(key)).toBe(0);
  expect(await app.witness.payments(key)).toEqual([]);
}

describe('a database that is away', () => {
  it('answers 503 without running the handler while connections are refused, and recovers', async () => {
    const key = randomUUID();
    await proxy.refuse();
    await expectRefusal(key);
    await expectRefusal(key);
    await expectRecovery(key);
  });

  it('answers 503 without running the handler when a pooled connection turns out to be cut', async () => {
    const key = randomUUID();
    expect((await app.attempt(payOnce)).status).toBe(201);
    proxy.intercept = (chunk) => (chunk.includes(key) ? 'cut' : 'pass');
    await expectRefusal(key);
    await expectRecovery(key);
  });

  it('does not leave a claim behind whose answer was lost', async () => {
    const key = randomUUID();
    expect((await app.attempt(payOnce)).status).toBe(201);
    let isFirst = true;
    proxy.intercept = (chunk) => {
      if (!isFirst || !chunk.includes(key)) return 'pass';
      isFirst = false;
      return 'pass and cut';
    };
    await expectRefusal(key);
    await eventually('the claim is released', async () => {
      return (await app.witness.rows('SELECT FROM idempotency_records WHERE key = $1', key)).length === 0;
    });
    await expectRecovery(key);
  });

  it('answers 503 within the statement timeout while the database does not answer, and recovers', async () => {
    const key = randomUUID();
    expect((await app.attempt(payOnce)).status).toBe(201);
    proxy.stall();
    const start = performance.now();
    await expectRefusal(key);
    expect(performance.now() - start).toBeLessThan(STATEMENT_TIMEOUT_MS + 4_000);
    await proxy.heal();
    // The claim may reach the database only now, long after it was given up: then its lease has to run out.
    const answer = await eventually('the key is free', async () => {
      await app.witness.rows('UPDATE idempotency_records SET locked_until = now() WHERE key = $1', key);
      const tried = await app.attempt(payOnce, key);
      return tried.status === 503 || tried.status === 409 ? null : tried;
    });
    await expectPaidOnce(key, answer);
  });

  it('answers 503 within the acquire timeout while new connections are not answered, and recovers', async () => {
    const key = randomUUID();
    proxy.cut();
    await eventually('the pool has noticed', () => proxy.connections === 0);
    proxy.stall();
    await expectRefusal(key);
    await expectRecovery(key);
  });

  it('answers 503 without running the handler while the database is read-only, and recovers', async () => {
    const key = randomUUID();
    const [{ name }] = (await app.witness.rows<{ name: string }>('SELECT current_database() AS name')) as [
      { name: string },
    ];
    await app.witness.rows(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    try {
      proxy.cut();
      await eventually('the pool has noticed', () => proxy.connections === 0);
      await expectRefusal(key);
    } finally {
      await app.witness.rows(`ALTER DATABASE "${name}" RESET default_transaction_read_only`);
    }
    proxy.cut();
    await eventually('the pool has noticed', () => proxy.connections === 0);
    await expectRecovery(key);
  });

  it('replays nothing while it is away, although the answer was recorded', async () => {
    const key = randomUUID();
    expect((await app.attempt(payOnce, key)).status).toBe(201);
    await proxy.refuse();
    expectStoreUnavailable(await app.attempt(payOnce, key));
    await proxy.heal();
    const replay = await eventually('the database is back', async () => {
      const tried = await app.attempt(payOnce, key);
      return tried.status === 503 ? null : tried;
    });
    expect([replay.status, replay.headers.get('Idempotent-Replayed'), app.runsOf(key)]).toEqual([201, 'true', 1]);
  });
});

describe('a database that dies inside the work', () => {
  const deaths: [string, (manager: Parameters<typeof pay>[0]) => unknown][] = [
    ['the connection is cut', () => proxy.cut()],
    [
      'its session is terminated',
      async (manager) => {
        const [{ pid }] = await manager.query<[{ pid: number }]>('SELECT pg_backend_pid() AS pid');
        await app.witness.rows('SELECT pg_terminate_backend($1)', pid);
        await eventually('the session is gone', async () => {
          return (await app.witness.rows('SELECT FROM pg_stat_activity WHERE pid = $1', pid)).length === 0;
        });
      },
    ],
  ];

  it.each(deaths)('leaves no half payment when %s before the first write', async (_, die) => {
    const key = randomUUID();
    const { status } = await app.attempt(async (manager, run) => {
      await die(manager);
      await pay(manager, run, 'paid');
    }, key);
    expect(status).toBeGreaterThanOrEqual(500);
    expect(await app.witness.payments(key)).toEqual([]);
    await expectRecovery(key);
  });

  it.each(deaths)('leaves no half payment when %s between two writes', async (_, die) => {
    const key = randomUUID();
    const { status } = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'debit');
      await die(manager);
      await pay(manager, run, 'credit');
    }, key);
    expect(status).toBeGreaterThanOrEqual(500);
    expect(await app.witness.payments(key)).toEqual([]);
    await expectRecovery(key);
  });

  it.each(deaths)('leaves no half payment when %s after the last write', async (_, die) => {
    const key = randomUUID();
    const { status } = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'debit');
      await pay(manager, run, 'credit');
      await die(manager);
    }, key);
    expect(status).toBeGreaterThanOrEqual(500);
    expect(await app.witness.payments(key)).toEqual([]);
    await expectRecovery(key);
  });

  it.each(deaths)('leaves no half payment when %s and the handler swallows it', async (_, die) => {
    const key = randomUUID();
    const { status } = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'debit');
      await die(manager);
      await pay(manager, run, 'credit').catch(() => undefined);
      return { paid: true };
    }, key);
    expect(status).toBeGreaterThanOrEqual(500);
    expect(await app.witness.payments(key)).toEqual([]);
    await expectRecovery(key);
  });

  it('leaves the refusal of a handler unrecorded when the database is gone by then, and the retry runs', async () => {
    const key = randomUUID();
    const { status } = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'undone');
      proxy.cut();
      throw new Error('refused');
    }, key);
    expect(status).toBe(500);
    await expectRecovery(key);
  });

  it('serves others while one of its connections does not answer', async () => {
    const key = randomUUID();
    const inside = gate();
    const hold = gate();
    const stuck = app.attempt(async (manager, run) => {
      await pay(manager, run, 'paid');
      inside.open();
      await hold.passed;
    }, key);
    await inside.passed;
    proxy.stallOpen();
    hold.open();
    // Idle connections of the pool are stalled as well; each costs one statement timeout before it is replaced.
    const other = randomUUID();
    await eventually('another request is served', async () => (await app.attempt(payOnce, other)).status === 201);
    expect((await stuck).status).toBeGreaterThanOrEqual(500);
    await proxy.heal();
    await eventually('the pool is at rest', () => app.isPoolAtRest());
    expect(await app.witness.payments(key)).toEqual([]);
  });
});
