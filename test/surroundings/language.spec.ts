import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { pay, prepareDatabase, startWorkApp, type Work, type WorkApp } from '../module/work-app.js';
import { keepsItsPromise } from './keeps-its-promise.js';
import { startTranslatingProxy, type TranslatingProxy } from './translating-proxy.js';

jest.setTimeout(60_000);

describe('where the database speaks a language that nobody knows', () => {
  let database: TestDatabase;
  let proxy: TranslatingProxy;
  let app: WorkApp;

  beforeAll(async () => {
    database = await createTestDatabase();
    await prepareDatabase(database.url);
    proxy = await startTranslatingProxy(database.url);
    app = await startWorkApp({ url: database.url, appUrl: proxy.url });
  });

  afterAll(async () => {
    await app?.stop();
    await proxy?.close();
    await database?.drop();
  });

  keepsItsPromise(() => ({ url: database.url, appUrl: proxy.url }));

  it.each<[what: string, fails: Work, status: number, code: string | undefined]>([
    ['a serialization failure', raising('40001'), 503, 'idempotency-work-conflict'],
    ['a deadlock', raising('40P01'), 503, 'idempotency-work-conflict'],
    ['an error of the handler’s own', raising('23505'), 500, undefined],
    ['a swallowed error', swallowing, 500, 'idempotency-work-broken'],
  ])('%s is known by its code', async (_, fails, status, code) => {
    const [key, before] = [randomUUID(), proxy.translated];
    const answer = await app.attempt(fails, key);
    expect([answer.status, (JSON.parse(answer.body) as { code?: string }).code]).toEqual([status, code]);
    expect(await app.witness.payments(key)).toEqual([]);
    expect(proxy.translated).toBeGreaterThan(before);
    const again = await app.attempt((manager, run) => pay(manager, run, 'paid'), key);
    expect([again.status, await app.witness.payments(key)]).toEqual([201, ['paid']]);
  });

  it('a row that is locked is looked at, and not waited for', async () => {
    const key = randomUUID();
    await app.attempt((manager, run) => pay(manager, run, 'paid'), key);
    await app.witness.rows('BEGIN');
    await app.witness.rows('SELECT FROM idempotency_records WHERE key = $1 FOR UPDATE', key);
    const before = proxy.translated;
    const again = await app.post('/work', { key });
    await app.witness.rows('ROLLBACK');
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([201, 'true']);
    expect(proxy.translated).toBeGreaterThan(before);
  });
});

function raising(state: string): Work {
  return async (manager, run) => {
    await pay(manager, run, 'undone');
    await manager.query(`DO $$ BEGIN RAISE SQLSTATE '${state}'; END $$`);
  };
}

async function swallowing(...[manager, run]: Parameters<Work>): Promise<void> {
  await pay(manager, run, 'undone');
  await manager.query('SELECT 1 / 0').catch(() => undefined);
}
