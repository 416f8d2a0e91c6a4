import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { idempotencyEntities, IdempotencyHealth, idempotencyMigrations } from 'nestjs-idempotency';
import { DataSource, type DataSourceOptions, DefaultNamingStrategy } from 'typeorm';

import { schemaSql } from '../../libs/idempotency/src/storage/schema-sql.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';

jest.setTimeout(60_000);

const snake = (name: string): string => name.replace(/(?<=[a-z0-9])[A-Z]/g, '_$&').toLowerCase();

/** Snake case for whatever has no name of its own, and names of constraints by a rule of its own. */
class SnakeNamingStrategy extends DefaultNamingStrategy {
  override tableName(className: string, customName: string | undefined): string {
    return customName ?? snake(className);
  }
  override columnName(propertyName: string, customName: string | undefined, prefixes: string[]): string {
    return snake([...prefixes, customName ?? propertyName].join('_'));
  }
  override primaryKeyName(table: { name: string } | string): string {
    return `pk_${typeof table === 'string' ? table : table.name}`;
  }
  override indexName(table: { name: string } | string, columns: string[]): string {
    return `ix_${typeof table === 'string' ? table : table.name}_${columns.join('_')}`;
  }
}

/** Renames everything, also what has a name. */
class ShoutingNamingStrategy extends DefaultNamingStrategy {
  override tableName(className: string, customName: string | undefined): string {
    return `T "${(customName ?? className).toUpperCase()}"`;
  }
  override columnName(propertyName: string, customName: string | undefined, prefixes: string[]): string {
    return [...prefixes, customName ?? propertyName].join('_').toUpperCase();
  }
}

const namings: [string, Partial<DataSourceOptions>, records: string][] = [
  ['default names', {}, '"idempotency_records"'],
  ['a schema', { schema: 'Payments' }, '"Payments"."idempotency_records"'],
  ['a prefix', { entityPrefix: 'app_' }, '"app_idempotency_records"'],
  ['a snake naming strategy', { namingStrategy: new SnakeNamingStrategy() }, '"idempotency_records"'],
  [
    'a schema, a prefix and a snake naming strategy',
    {
      schema: 'Payments',
      entityPrefix: 'app_',
      namingStrategy: new SnakeNamingStrategy(),
    },
    '"Payments"."app_idempotency_records"',
  ],
];

const opened: DataSource[] = [];
let database: TestDatabase;
let witness: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  witness = new Client({ connectionString: database.url });
  await witness.connect();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((dataSource) => dataSource.destroy()));
  await witness.query('DROP SCHEMA public CASCADE; DROP SCHEMA IF EXISTS "Payments" CASCADE; CREATE SCHEMA public');
});

afterAll(async () => {
  await witness?.end();
  await database?.drop();
});

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

const check = (dataSource: DataSource) => new IdempotencyHealth(dataSource, () => undefined).check();

describe.each(namings)('under %s', (_, options, records) => {
  it('the migration makes what the schema check and the schema builder of TypeORM expect', async () => {
    const dataSource = await open(options);
    expect(await check(dataSource)).toMatchObject({ status: 'down' });
    await dataSource.runMigrations();
    expect(await check(dataSource)).toEqual({ status: 'up' });
    const { upQueries, downQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect([...upQueries, ...downQueries].map(({ query }) => query)).toEqual([]);
    const { rows } = await witness.query(`SELECT FROM ${records}`);
    expect(rows).toEqual([]);
  });

  it('the migrations can be taken back and run again', async () => {
    const dataSource = await open(options);
    await dataSource.runMigrations();
    for (const _ of idempotencyMigrations) await dataSource.undoLastMigration();
    expect(await tables()).toEqual([]);
    expect(await check(dataSource)).toMatchObject({ status: 'down' });
    await dataSource.runMigrations();
    expect(await check(dataSource)).toEqual({ status: 'up' });
  });

  it('the printed schema makes what the schema check and the schema builder of TypeORM expect', async () => {
    const dataSource = await open(options);
    await dataSource.query(schemaSql(dataSource));
    expect(await check(dataSource)).toEqual({ status: 'up' });
    const { upQueries, downQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect([...upQueries, ...downQueries].map(({ query }) => query)).toEqual([]);
    const { rows } = await witness.query(`SELECT reloptions FROM pg_class WHERE oid = '${records}'::regclass`);
    expect(rows).toEqual([{ reloptions: ['fillfactor=80'] }]);
  });

  it('what TypeORM synchronizes by itself passes the check as well', async () => {
    const dataSource = await open(options);
    await dataSource.synchronize();
    expect(await check(dataSource)).toEqual({ status: 'up' });
  });
});

describe('the migration', () => {
  it('serves two applications that share a schema under prefixes of their own', async () => {
    for (const entityPrefix of ['first_', 'second_']) {
      const dataSource = await open({ entityPrefix, migrationsTableName: `${entityPrefix}migrations` });
      await dataSource.runMigrations();
      expect(await check(dataSource)).toEqual({ status: 'up' });
    }
    expect(await tables()).toHaveLength(4);
  });

  it('serves a naming strategy that renames what has a name, quotes included', async () => {
    const dataSource = await open({ namingStrategy: new ShoutingNamingStrategy() });
    await dataSource.runMigrations();
    expect(await tables()).toEqual(['T "IDEMPOTENCY_RECORDS"', 'T "IDEMPOTENCY_STEPS"']);
    expect(await check(dataSource)).toEqual({ status: 'up' });
  });

  it('leaves room on the page for completions', async () => {
    await (await open()).runMigrations();
    const { rows } = await witness.query(`SELECT reloptions FROM pg_class WHERE oid = 'idempotency_records'::regclass`);
    expect(rows).toEqual([{ reloptions: ['fillfactor=80'] }]);
  });
});

describe('the schema check', () => {
  const DROP_PRIMARY_KEY = `DO $$ BEGIN EXECUTE format('ALTER TABLE idempotency_records DROP CONSTRAINT %I',
    (SELECT conname FROM pg_constraint WHERE conrelid = 'idempotency_records'::regclass AND contype = 'p')); END $$`;
  const damages: [string, string, RegExp][] = [
    ['a missing table', 'DROP TABLE idempotency_records', /table "idempotency_records" does not exist/],
    ['a missing table of steps', 'DROP TABLE idempotency_steps', /table "idempotency_steps" does not exist/],
    ['a missing column', 'ALTER TABLE idempotency_records DROP COLUMN resource', /resource does not exist/],
    [
      'a column of another type',
      `ALTER TABLE idempotency_records ALTER response_headers TYPE jsonb USING '[]'`,
      /response_headers is jsonb, not text/,
    ],
    [
      'no primary key',
      DROP_PRIMARY_KEY,
      /the primary key of "idempotency_records" is \(\), not \(endpoint, key, tenant\)/,
    ],
    [
      'another primary key',
      `${DROP_PRIMARY_KEY}; ALTER TABLE idempotency_records ADD PRIMARY KEY (key)`,
      /the primary key of "idempotency_records" is \(key\)/,
    ],
    [
      'a column that nobody fills',
      'ALTER TABLE idempotency_records ADD COLUMN region text NOT NULL',
      /region is NOT NULL without a default, and this version does not fill it/,
    ],
  ];

  it.each(damages)('reports %s, and names the migration', async (_, sql, reason) => {
    const dataSource = await open();
    await dataSource.runMigrations();
    await witness.query(sql);
    const report = await check(dataSource);
    expect(report).toMatchObject({ status: 'down', reason: expect.stringMatching(reason) });
    expect(report).toMatchObject({ reason: expect.stringContaining('idempotencyMigrations') });
  });

  it.each([
    ['a column more', `ALTER TABLE idempotency_records ADD COLUMN region text`],
    ['a column more with a default', `ALTER TABLE idempotency_steps ADD COLUMN region text NOT NULL DEFAULT 'here'`],
    ['a generated column more', `ALTER TABLE idempotency_steps ADD COLUMN n bigint GENERATED ALWAYS AS IDENTITY`],
    ['an index more', `CREATE INDEX ON idempotency_records (tenant) WHERE state = 'in_progress'`],
    ['a longer check', `ALTER TABLE idempotency_records ADD CHECK (attempts >= 0)`],
    ['a table more', `CREATE TABLE idempotency_outcomes (key text PRIMARY KEY)`],
  ])('takes %s for what it is: a newer version', async (_, sql) => {
    const dataSource = await open();
    await dataSource.runMigrations();
    await witness.query(sql);
    expect(await check(dataSource)).toEqual({ status: 'up' });
  });

  it('says which entity the data source was not given', async () => {
    const dataSource = await open({ entities: [] });
    expect(await check(dataSource)).toMatchObject({
      status: 'down',
      reason: expect.stringContaining('does not know the entity IdempotencyRecord'),
    });
  });
});
