import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { idempotencyEntities, idempotencyMigrations, schemaSql } from 'nestjs-idempotency';
import { DataSource } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { catalogue } from './catalogue.js';

jest.setTimeout(60_000);

const FILE = readFileSync(join(import.meta.dirname, '../../docs/schema.sql'), 'utf8');

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
});

beforeEach(async () => {
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
});

afterAll(async () => {
  await client?.end();
  await database?.drop();
});

async function migrated(count = idempotencyMigrations.length): Promise<string[]> {
  const dataSource = await new DataSource({
    type: 'postgres',
    url: database.url,
    entities: [...idempotencyEntities],
    migrations: idempotencyMigrations.slice(0, count),
  }).initialize();
  try {
    await dataSource.runMigrations();
    return await catalogue(client);
  } finally {
    await dataSource.destroy();
  }
}

it('docs/schema.sql is what `npm run schema` prints', async () => {
  const dataSource = new DataSource({ type: 'postgres', url: database.url, entities: [...idempotencyEntities] });
  await dataSource.initialize();
  expect(FILE).toBe(schemaSql(dataSource));
  await dataSource.destroy();
});

it('docs/schema.sql makes the tables as the migrations make them, and may be run again', async () => {
  const made = await migrated();
  expect(made.filter((line) => line.startsWith('column')).length).toBeGreaterThan(25);
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  await client.query(FILE);
  expect(await catalogue(client)).toEqual(made);
  await client.query(FILE);
  expect(await migrated()).toEqual(made);
});

it.each(idempotencyMigrations.map((_, at) => at + 1))(
  'docs/schema.sql brings tables of the first %i migrations up to date',
  async (count) => {
    await migrated(count);
    await client.query(FILE);
    const upToDate = await catalogue(client);
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    expect(upToDate).toEqual(await migrated());
  },
);
