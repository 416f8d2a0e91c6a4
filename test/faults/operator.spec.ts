import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { Logbook } from '../module/listening.js';
import { pay, prepareDatabase, startWorkApp, type Work, type WorkApp } from '../module/work-app.js';
import { DatabaseProxy } from './database-proxy.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let proxy: DatabaseProxy;
let app: WorkApp;
const logbook = new Logbook();

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  proxy = await DatabaseProxy.to(database.url);
  app = await startWorkApp({ url: database.url, appUrl: proxy.url, logbook });
});

afterAll(async () => {
  await app?.stop();
  await proxy?.close();
  await database?.drop();
});

const payOnce: Work = (manager, run) => pay(manager, run, 'paid');

describe('a database that is away', () => {
  it('tells the operator why, and the caller nothing of it', async () => {
    await proxy.refuse();
    const { body } = await app.attempt(payOnce);
    expect(body).not.toContain('ECONNREFUSED');
    expect(logbook.complaints('ECONNREFUSED')).not.toEqual([]);
  });
});
