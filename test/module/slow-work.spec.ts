import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { DatabaseProxy } from '../faults/database-proxy.js';
import { eventually, type Gate, gate } from './gate.js';
import { Logbook } from './listening.js';
import { pay, prepareDatabase, startWorkApp, type Work, type WorkApp } from './work-app.js';

jest.setTimeout(60_000);

const LEASE_MS = 1_500;

let database: TestDatabase;
let proxy: DatabaseProxy;
let app: WorkApp;
const logbook = new Logbook();

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  proxy = await DatabaseProxy.to(database.url);
  app = await startWorkApp({
    url: database.url,
    appUrl: proxy.url,
    logbook,
    idempotency: { leaseMs: LEASE_MS, statementTimeoutMs: 1_000 },
  });
});

afterAll(async () => {
  await app?.stop();
  await proxy?.close();
  await database?.drop();
});

interface Held {
  readonly work: Work;
  readonly entered: Gate;
  readonly go: Gate;
}

/** Work that waits inside until it is told to go on. */
function held(before: Work = () => undefined): Held {
  const [entered, go] = [gate(), gate()];
  const work: Work = async (manager, run) => {
    await before(manager, run);
    await pay(manager, run, 'before');
    entered.open();
    await go.passed;
    await pay(manager, run, 'after');
    return { run };
  };
  return { work, entered, go };
}

async function renewals(key: string): Promise<number> {
  const [row] = await app.witness.rows<{ thirds: number }>(
    `SELECT (extract(epoch FROM locked_until - locked_at) * 1000)::float8 - $2 AS thirds
       FROM idempotency_records WHERE key = $1`,
    key,
    LEASE_MS,
  );
  return row?.thirds ?? 0;
}

/** The lease has been renewed until it ends more than one whole lease after the one it was claimed with. */
function outliveLease(key: string): Promise<boolean> {
  return eventually('the lease is renewed', async () => (await renewals(key)) > LEASE_MS);
}

describe('a lease', () => {
  it('is renewed while its handler runs: nobody else gets in, and the work is committed', async () => {
    const key = randomUUID();
    const { work, entered, go } = held();
    const first = app.attempt(work, key);
    await entered.passed;
    await outliveLease(key);
    const duplicate = await app.post('/work', { key });
    expect([duplicate.status, app.runsOf(key)]).toEqual([409, 1]);
    expect([1, 2]).toContain(Number(duplicate.headers.get('Retry-After')));
    go.open();
    expect((await first).status).toBe(201);
    expect(await app.witness.payments(key)).toEqual(['after', 'before']);
  });

  it('goes on being renewed after a renewal whose connection fell silent', async () => {
    const warmUp = randomUUID();
    const warm = held();
    const warming = app.attempt(warm.work, warmUp);
    await warm.entered.passed;
    await outliveLease(warmUp);
    warm.go.open();
    await warming;

    // Whatever is open now, the connection of the renewals among it, is never heard of again.
    proxy.stallOpen();
    const key = randomUUID();
    const { work, entered, go } = held();
    const first = eventually('a request gets through', async () => {
      const answer = await app.attempt(work, key);
      return answer.status === 503 ? null : answer;
    });
    await entered.passed;
    try {
      await outliveLease(key);
    } finally {
      go.open();
      await first;
      await proxy.heal();
    }
    expect((await first).status).toBe(201);
    expect(await app.witness.payments(key)).toEqual(['after', 'before']);
  });
});
