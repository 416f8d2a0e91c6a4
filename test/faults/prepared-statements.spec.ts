import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { pay, prepareDatabase, startWorkApp, type Work, type WorkApp } from '../module/work-app.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let app: WorkApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  app = await startWorkApp({ url: database.url, typeorm: { poolSize: 1 } });
});

afterAll(async () => {
  await app?.stop();
  await database?.drop();
});

const payInSteps: Work = (manager, run) => pay(manager, run, 'paid');

describe('a connection whose prepared statements are gone', () => {
  it('does not fail every later request on it', async () => {
    await app.attempt(payInSteps);
    const { status } = await app.attempt(async (manager) => manager.query('DEALLOCATE ALL'));
    expect(status).toBeGreaterThanOrEqual(200);
    const statuses: number[] = [];
    for (let request = 0; request < 12; request++) statuses.push((await app.attempt(payInSteps)).status);
    // One request may be the one that finds out.
    expect(statuses.filter((found) => found !== 201).length).toBeLessThanOrEqual(2);
    expect(statuses.slice(-6)).toEqual(Array<number>(6).fill(201));
  });
});
