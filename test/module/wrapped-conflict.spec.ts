import { randomUUID } from 'node:crypto';
import { ConflictException } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { pay, prepareDatabase, startWorkApp, type WorkApp } from './work-app.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let app: WorkApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  app = await startWorkApp({ url: database.url });
});

afterAll(async () => {
  await app?.stop();
  await database?.drop();
});

const raise = (state: string): string => `DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '${state}'; END $$`;

async function expectRetryRuns(key: string): Promise<void> {
  expect(await app.witness.payments(key)).toEqual([]);
  const retry = await app.attempt((manager, run) => pay(manager, run, 'retried'), key);
  expect([retry.status, retry.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
  expect(await app.witness.payments(key)).toEqual(['retried']);
}

describe.each([
  ['a serialization failure', '40001'],
  ['a deadlock', '40P01'],
])('%s of the handler', (_, state) => {
  it('is not recorded when the handler turns it into a refusal of its own', async () => {
    const key = randomUUID();
    const { status } = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'undone');
      await manager.query(raise(state)).catch((cause: unknown) => {
        throw new ConflictException('busy', { cause });
      });
    }, key);
    expect([409, 503]).toContain(status);
    await expectRetryRuns(key);
  });
});
