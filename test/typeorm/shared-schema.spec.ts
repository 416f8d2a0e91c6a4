import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { idempotencyEntities, IdempotencyHealth, idempotencyMigrations } from 'nestjs-idempotency';
import { DataSource, type DataSourceOptions } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';

jest.setTimeout(60_000);

const opened: DataSource[] = [];
let database: TestDatabase;
let witness: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  witness = new Client({ connectionString: database.url });
  await witness.connect();
}, 60_000);

afterEach(async () => {
  await Promise.all(opened.splice(0).map((dataSource) => dataSource.destroy()));
  await witness.query('DROP SCHEMA public CASCADE; DROP SCHEMA IF EXISTS "Payments" CASCADE; CREATE SCHEMA public');
});

afterAll(async () => {
  await witness?.end();
  await database?.drop();
}, 60_000);

async function open(options: Partial<DataSourceOptions> = {}): Promise<DataSource> {
  await witness.query('CREATE SCHEMA IF NOT EXISTS "Payments"');
  const dataSource = new DataSource({
    type: 'postgres',
    url: database.url,
    entities: [...idempotencyEntities],
    migrations: [...idempotencyMigrations],
    migrationsTableName: 'migrations',
    ...options,
  } as DataSourceOptions);
  opened.push(dataSource);
  return dataSource.initialize();
}

/** The tables of the library that are there. */
async function tables(): Promise<string[]> {
  const { rows } = await witness.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_name ~* 'idempotency' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

const check = (dataSource: DataSource) => new IdempotencyHealth(dataSource).check();

describe('the migration', () => {
  it('serves two applications that share a schema under prefixes of their own', async () => {
    for (const entityPrefix of ['first_', 'second_']) {
      const dataSource = await open({ entityPrefix, migrationsTableName: `${entityPrefix}migrations` });
      await dataSource.runMigrations();
      expect(await check(dataSource)).toEqual({ status: 'up' });
    }
    expect(await tables()).toHaveLength(4);
  });
});
