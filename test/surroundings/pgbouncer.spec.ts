import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { IdempotencyService } from 'nestjs-idempotency';
import { Client } from 'pg';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import type { Answer } from '../module/listening.js';
import { pay, prepareDatabase, startWorkApp, type WorkApp } from '../module/work-app.js';
import { keepsItsPromise } from './keeps-its-promise.js';
import { hasPgBouncer, type PgBouncer, startPgBouncer } from './pgbouncer.js';

jest.setTimeout(60_000);

const isThere = hasPgBouncer();
if (!isThere) process.stderr.write('Skipped: the tests behind PgBouncer. `pgbouncer` is not installed.\n');

/** Fewer than one application takes by itself. */
const POOL_SIZE = 3;

(isThere ? describe : describe.skip).each([
  ['leaves connections as they are', false],
  ['resets connections after each transaction', true],
])('behind PgBouncer in transaction mode, which %s', (_, resets) => {
  let database: TestDatabase;
  let pooler: PgBouncer;

  beforeAll(async () => {
    database = await createTestDatabase();
    await prepareDatabase(database.url);
    pooler = await startPgBouncer({ databaseUrl: database.url, poolSize: POOL_SIZE, resets });
  });

  afterAll(async () => {
    await pooler?.stop();
    await database?.drop();
  });

  keepsItsPromise(() => ({ url: database.url, appUrl: pooler.url }));

  it('two applications with more clients than connections do everything once, and none waits for good', async () => {
    const start = (claim: 'lease' | 'transaction') =>
      startWorkApp({
        url: database.url,
        appUrl: pooler.url,
        typeorm: { poolSize: 10 },
        idempotency: { claim, acquireTimeout: '5s' },
      });
    const apps = [await start('lease'), await start('lease'), await start('transaction')];
    try {
      const keys = Array.from({ length: 20 }, () => randomUUID());
      // Half of the keys are claimed in one way, half in the other, and each comes to every application that does.
      const answers = await Promise.all(
        keys.flatMap((key, at) =>
          (at % 2 === 0 ? [apps[0]!, apps[1]!] : [apps[2]!, apps[2]!]).flatMap((app) => [
            asked(app, key),
            asked(app, key),
          ]),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      for (const key of keys) {
        expect(await apps[0]!.witness.payments(key)).toEqual(['paid']);
        expect(apps.reduce((runs, app) => runs + app.runsOf(key), 0)).toBe(1);
      }
      for (const app of apps) expect(app.isPoolAtRest()).toBe(true);
    } finally {
      for (const app of apps) await app.stop();
    }
  });

  it('nothing that was set is left on a connection, no lock is held, and no statement prepared', async () => {
    const app = await startWorkApp({
      url: database.url,
      appUrl: pooler.url,
      idempotency: { providerKeySecret: 'the secret of the tests' },
    });
    try {
      await asked(app, randomUUID());
      await app.attempt(() => Promise.reject(new Error('The handler failed.')));
      const request = { endpoint: 'charges', key: randomUUID(), payload: {}, transaction: 'manual' } as const;
      await app.app.get(IdempotencyService).run(request, async (operation) => {
        await operation.step('charge', () => Promise.resolve('charged'));
        return operation.commit((manager) => pay(manager, operation.key, 'paid'));
      });
    } finally {
      await app.stop();
    }
    const clients = await Promise.all(Array.from({ length: POOL_SIZE }, () => connected(pooler.url)));
    try {
      // Each inside a transaction: so each has a connection of its own to the server.
      const left = [];
      for (const client of clients) {
        await client.query('BEGIN');
        left.push((await client.query<Record<string, unknown>>(LEFT_BEHIND)).rows[0]!);
      }
      expect(new Set(left.map(({ pid }) => pid)).size).toBe(POOL_SIZE);
      for (const { pid: _pid, token, ...settings } of left) {
        expect(token ?? '').toBe('');
        expect(settings).toEqual({ changed: [], locks: 0, prepared: 0 });
      }
    } finally {
      for (const client of clients) await client.end();
    }
  });
});

/** What a session of the server has been made to be, in ways that its next user would notice. */
const LEFT_BEHIND = `
SELECT pg_backend_pid() AS pid, current_setting('idempotency.token', true) AS token,
  (SELECT coalesce(array_agg(name), '{}') FROM pg_settings
   WHERE source = 'session' AND name NOT IN ('client_encoding', 'application_name', 'DateStyle', 'TimeZone', 'IntervalStyle')) AS changed,
  (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())::integer AS locks,
  (SELECT count(*) FROM pg_prepared_statements)::integer AS prepared`;

/** Asks until there is an answer that says more than to come again. */
async function asked(app: WorkApp, key: string): Promise<Answer> {
  for (;;) {
    const answer = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'paid');
      return { run };
    }, key);
    if (answer.status !== 409) return answer;
  }
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}
