import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { idempotencyEntities, IdempotencyHealth, idempotencyMigrations, migrateOnce } from 'nestjs-idempotency';
import { DataSource, type DataSourceOptions, type MigrationInterface, type QueryRunner } from 'typeorm';

import { changeSchema } from '../../libs/idempotency/src/storage/change-schema.js';
import { newColumn, newIndex } from '../../libs/idempotency/src/storage/schema-change.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from '../module/gate.js';

jest.setTimeout(60_000);

/** As hosts have them: it cannot be run twice. */
class CreateOrders1700000000000 implements MigrationInterface {
  name = 'CreateOrders1700000000000';
  up = (runner: QueryRunner): Promise<unknown> => runner.query('CREATE TABLE orders (id integer PRIMARY KEY)');
  down = (runner: QueryRunner): Promise<unknown> => runner.query('DROP TABLE orders');
}

/** Comes after those of the library, and works only when it is told to. */
class FillOrders1999999999999 implements MigrationInterface {
  static fails = false;
  name = 'FillOrders1999999999999';
  up = (runner: QueryRunner): Promise<unknown> =>
    FillOrders1999999999999.fails
      ? Promise.reject(new Error('the host is at fault'))
      : runner.query('INSERT INTO orders VALUES (1)');
  down = (runner: QueryRunner): Promise<unknown> => runner.query('DELETE FROM orders');
}

const HOST = [CreateOrders1700000000000, FillOrders1999999999999];
const MODES = ['all', 'each', 'none'] as const;

const opened: DataSource[] = [];
let database: TestDatabase;
/** Two sessions of somebody else. */
let witness: Client;
let other: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  [witness, other] = [new Client(database.url), new Client(database.url)];
  await Promise.all([witness.connect(), other.connect()]);
});

beforeEach(async () => {
  FillOrders1999999999999.fails = false;
  await witness.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
});

afterEach(async () => {
  await other.query('ROLLBACK');
  await Promise.all(opened.splice(0).map((dataSource) => dataSource.destroy()));
});

afterAll(async () => {
  await witness?.end();
  await other?.end();
  await database?.drop();
});

/** What a data source has sent. */
class Sent {
  readonly texts: string[] = [];
  logQuery = (text: string): void => void this.texts.push(text);
  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
  count = (pattern: RegExp): number => this.texts.filter((text) => pattern.test(text)).length;
}

async function open(options: Partial<DataSourceOptions> = {}): Promise<DataSource> {
  const dataSource = new DataSource({
    type: 'postgres',
    url: database.url,
    entities: [...idempotencyEntities],
    migrations: [...idempotencyMigrations],
    logger: new Sent(),
    ...options,
  } as DataSourceOptions);
  opened.push(await dataSource.initialize());
  return dataSource;
}

/** The tables as the first migration alone makes them, with a record in them. */
async function openOlder(): Promise<void> {
  await (await open({ migrations: [idempotencyMigrations[0]!] })).runMigrations();
  await write();
}

/** Writes as a claim does, and waits no longer than it does. */
async function write(): Promise<void> {
  await witness.query(`BEGIN; SET LOCAL lock_timeout = '250ms';
    INSERT INTO idempotency_records (tenant, endpoint, key, fingerprint, state, created_at, expires_at)
    VALUES ('', 'e', '${randomUUID()}', '', 'completed', now(), now()); COMMIT`);
}

async function ran(): Promise<string[]> {
  const { rows } = await witness.query<{ name: string }>('SELECT name FROM migrations ORDER BY name');
  return rows.map(({ name }) => name);
}

async function indexes(): Promise<string[]> {
  const { rows } = await witness.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index
      WHERE indrelid = 'idempotency_records'::regclass AND NOT indisprimary AND indisvalid ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

const names = (migrations: readonly { readonly name: string }[]): string[] => migrations.map(({ name }) => name).sort();

async function expectUp(dataSource: DataSource): Promise<void> {
  expect(await new IdempotencyHealth(dataSource, () => undefined).check()).toEqual({ status: 'up' });
  const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
  expect(upQueries.map(({ query }) => query)).toEqual([]);
}

describe.each(MODES)('in the transaction mode %s, the migrations', (transaction) => {
  it('make the tables among those of the host', async () => {
    const dataSource = await open({ migrations: [...HOST, ...idempotencyMigrations] });
    await dataSource.runMigrations({ transaction });
    await expectUp(dataSource);
    expect(await ran()).toEqual(names([...HOST, ...idempotencyMigrations]));
  });

  it('bring older tables up to date, and are run again where nobody knows that they ran', async () => {
    await openOlder();
    const dataSource = await open();
    await dataSource.runMigrations({ transaction });
    await expectUp(dataSource);
    await witness.query('TRUNCATE migrations');
    await dataSource.runMigrations({ transaction });
    await expectUp(dataSource);
  });

  it('are complete or run again when one of the host fails after them', async () => {
    const dataSource = await open({ migrations: [...HOST, ...idempotencyMigrations] });
    FillOrders1999999999999.fails = true;
    await expect(dataSource.runMigrations({ transaction })).rejects.toThrow('the host is at fault');
    expect(await ran()).toHaveLength(transaction === 'all' ? 0 : idempotencyMigrations.length + 1);
    FillOrders1999999999999.fails = false;
    await dataSource.runMigrations({ transaction });
    await expectUp(dataSource);
  });

  it('let requests go on while somebody reads the table for long, and come through when that is over', async () => {
    await openOlder();
    await other.query('BEGIN; LOCK TABLE idempotency_records IN ACCESS SHARE MODE');
    const sent = new Sent();
    const dataSource = await open({ logger: sent, logging: true });
    const running = dataSource.runMigrations({ transaction });
    running.catch(() => undefined);
    await eventually('the lock was asked for three times', async () => {
      await write();
      return sent.count(/^ALTER TABLE/) >= 3;
    });
    await other.query('COMMIT');
    await running;
    await expectUp(dataSource);
    const [row] = await dataSource.query<{ setting: string }[]>(`SELECT current_setting('lock_timeout') AS setting`);
    expect(row).toEqual({ setting: '0' });
  });
});

describe('a migration that does not get its lock', () => {
  it('gives up, says who has it, and has changed nothing', async () => {
    await openOlder();
    await other.query('BEGIN; LOCK TABLE idempotency_records IN ACCESS SHARE MODE');
    const [row] = (await other.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
    const runner = (await open()).createQueryRunner();
    const change = changeSchema(runner, [newColumn('"idempotency_records"', '"later"', 'text')], {
      maxTries: 2,
      smallBytes: 0,
    });
    await expect(change).rejects.toThrow(
      new RegExp(`"idempotency_records" could not be changed.*process ${row!.pid};.*Nothing was changed`),
    );
    const [state] = (await runner.query('SELECT txid_current_if_assigned() AS id')) as { id: string | null }[];
    expect([runner.isTransactionActive, state!.id]).toEqual([false, null]);
    await runner.release();
  });

  it('is not asked for at all where its work is done', async () => {
    await openOlder();
    await (await open()).runMigrations();
    await other.query('BEGIN; LOCK TABLE idempotency_records IN ACCESS EXCLUSIVE MODE');
    await other.query('LOCK TABLE idempotency_steps IN ACCESS EXCLUSIVE MODE');
    await witness.query('TRUNCATE migrations');
    const sent = new Sent();
    await (await open({ logger: sent, logging: true })).runMigrations();
    expect(sent.count(/^(ALTER|CREATE) (TABLE|INDEX).*idempotency/)).toBe(0);
  });
});

describe('an index', () => {
  const INDEX = newIndex('"idempotency_records"', '"later"', '(created_at)');
  const LARGE = { maxTries: 2, smallBytes: -1 };
  const SMALL = { maxTries: 2, smallBytes: 8 * 1024 };

  async function runnerOf(options?: Partial<DataSourceOptions>): Promise<QueryRunner> {
    return (await open(options)).createQueryRunner();
  }

  it.each([
    ['outside a transaction', false],
    ['in a transaction of its own', true],
  ])('is made on a large table while others write, %s', async (_, isInTransaction) => {
    await openOlder();
    const runner = await runnerOf();
    if (isInTransaction) await runner.startTransaction();
    await other.query('BEGIN; UPDATE idempotency_records SET attempts = 2');
    const made = changeSchema(runner, [INDEX], LARGE);
    made.catch(() => undefined);
    await eventually('it is being made', async () => {
      const { rowCount } = await witness.query(
        `SELECT FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return rowCount;
    });
    await write();
    await other.query('COMMIT');
    await made;
    if (isInTransaction) await runner.commitTransaction();
    await runner.release();
    expect(await indexes()).toContain('later');
  });

  it('is made for longer than the application lets its own statements take', async () => {
    await openOlder();
    const runner = await runnerOf({ extra: { statement_timeout: 200, lock_timeout: 100, query_timeout: 400 } });
    await other.query('BEGIN; UPDATE idempotency_records SET attempts = 2');
    const made = changeSchema(runner, [INDEX], LARGE);
    made.catch(() => undefined);
    await eventually('it has taken longer', async () => {
      const { rowCount } = await witness.query(
        `SELECT FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND state = 'active'
           AND query_start < clock_timestamp() - interval '500 ms' AND datname = current_database()`,
      );
      return rowCount;
    });
    await other.query('COMMIT');
    await made;
    await runner.release();
    expect(await indexes()).toContain('later');
  });

  it('that takes longer than the role may wait is said to, with the statement that makes it', async () => {
    await openOlder();
    const [{ name }] = (await witness.query<{ name: string }>('SELECT current_database() AS name')).rows as [
      { name: string },
    ];
    await witness.query(`ALTER DATABASE ${name} SET statement_timeout = '200ms'`);
    try {
      const runner = await runnerOf();
      await other.query('BEGIN; UPDATE idempotency_records SET attempts = 2');
      await expect(changeSchema(runner, [INDEX], LARGE)).rejects.toThrow(
        /statement_timeout or lock_timeout.*SET statement_timeout = 0;.*CREATE INDEX CONCURRENTLY.*"later"/,
      );
      await runner.release();
    } finally {
      await witness.query(`ALTER DATABASE ${name} RESET statement_timeout`);
    }
  });

  it.each([
    ['a transaction that has changed the table', {}],
    ['a transaction with a snapshot', { isolationLevel: 'SERIALIZABLE' }],
  ])('is not made on a large table in %s: the error says how', async (_, options) => {
    await openOlder();
    const runner = await runnerOf(options as Partial<DataSourceOptions>);
    await runner.startTransaction('isolationLevel' in options ? 'SERIALIZABLE' : 'READ COMMITTED');
    await changeSchema(runner, [newColumn('"idempotency_records"', '"later"', 'text')]);
    await expect(changeSchema(runner, [INDEX], LARGE)).rejects.toThrow(/migrationsTransactionMode: 'each'/);
    await runner.rollbackTransaction();
    await runner.release();
  });

  it('is made at once on a small one, also in the transaction that made the table', async () => {
    const runner = await runnerOf();
    await runner.startTransaction();
    await new idempotencyMigrations[0]!().up(runner);
    await changeSchema(runner, [INDEX], SMALL);
    await runner.commitTransaction();
    await runner.release();
    expect(await indexes()).toContain('later');
  });

  it.each([
    ['a small', SMALL],
    ['a large', LARGE],
  ])('that was left half made on %s table is made again', async (_, limits) => {
    await openOlder();
    await witness.query(
      `INSERT INTO idempotency_records (tenant, endpoint, key, fingerprint, state, created_at, expires_at)
       SELECT '', 'e', 'twin ' || n, '', 'completed', 'epoch', now() FROM generate_series(1, 2) n`,
    );
    const unique = 'CREATE UNIQUE INDEX CONCURRENTLY later ON idempotency_records (created_at)';
    await expect(witness.query(unique)).rejects.toThrow('could not create unique index');
    const runner = await runnerOf();
    await changeSchema(runner, [INDEX], limits);
    await runner.release();
    expect(await indexes()).toContain('later');
  });
});

describe('several that start at once', () => {
  it.each(MODES)('run the migrations of the host and of the library once, in the mode %s', async (transaction) => {
    const dataSources = await Promise.all(
      Array.from({ length: 4 }, () => open({ migrations: [...HOST, ...idempotencyMigrations], poolSize: 1 })),
    );
    const done = await Promise.all(dataSources.map((dataSource) => migrateOnce(dataSource, { transaction })));
    expect(names(done.flat())).toEqual(names([...HOST, ...idempotencyMigrations]));
    expect(await ran()).toEqual(names([...HOST, ...idempotencyMigrations]));
    await Promise.all(dataSources.map(expectUp));
  });

  it('let another try when the one that had its turn has failed', async () => {
    FillOrders1999999999999.fails = true;
    const failing = await open({ migrations: [...HOST, ...idempotencyMigrations] });
    await expect(migrateOnce(failing)).rejects.toThrow('the host is at fault');
    FillOrders1999999999999.fails = false;
    const next = await open({ migrations: [...HOST, ...idempotencyMigrations] });
    await migrateOnce(next);
    await expectUp(next);
  });
});
