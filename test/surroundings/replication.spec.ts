import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { IdempotencyRecord } from 'nestjs-idempotency';
import { DataSource } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { dataSourceOptions, prepareDatabase } from '../module/work-app.js';
import { keepsItsPromise } from './keeps-its-promise.js';

jest.setTimeout(60_000);

let primary: TestDatabase;
/** Stands for a replica that has fallen behind as far as can be: whatever is looked for there is not found. */
let replica: TestDatabase;

beforeAll(async () => {
  primary = await createTestDatabase();
  replica = await createTestDatabase();
  await prepareDatabase(primary.url);
});

afterAll(async () => {
  await primary?.drop();
  await replica?.drop();
});

const replication = () => ({ master: { url: primary.url }, slaves: [{ url: replica.url }] });

describe('where TypeORM sends reads to a replica, the primary is asked', () => {
  keepsItsPromise(() => ({ url: primary.url, typeorm: { url: undefined, replication: replication() } }));

  it('which the replica of this test could not stand in for', async () => {
    const dataSource = await new DataSource(
      dataSourceOptions(primary.url, { url: undefined, replication: replication() }),
    ).initialize();
    try {
      await expect(dataSource.getRepository(IdempotencyRecord).count()).rejects.toThrow('does not exist');
    } finally {
      await dataSource.destroy();
    }
  });
});
