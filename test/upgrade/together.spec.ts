import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { idempotencyEntities, idempotencyMigrations } from 'nestjs-idempotency';
import { DataSource } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { catalogue } from './catalogue.js';

jest.setTimeout(120_000);

const PROCESSES = 4;
const ALL = ['CreateOrders1700000000000', ...idempotencyMigrations.map(({ name }) => name)];

let database: TestDatabase;
let client: Client;
let expected: string[];
let children: ChildProcess[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
  await migrate(idempotencyMigrations.length);
  expected = await catalogue(client);
  children = await Promise.all(Array.from({ length: PROCESSES }, load));
});

beforeEach(() => client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public'));

afterAll(async () => {
  await Promise.all(children.map(kill));
  await client?.end();
  await database?.drop();
});

/** Loaded before it is told to start: several start together. */
async function load(): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'starts-up.mjs'), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await told(child);
  return child;
}

/** The tables as the first migrations make them. */
async function migrate(count: number): Promise<void> {
  const dataSource = await new DataSource({
    type: 'postgres',
    url: database.url,
    entities: [...idempotencyEntities],
    migrations: idempotencyMigrations.slice(0, count),
  }).initialize();
  await dataSource.runMigrations();
  await dataSource.destroy();
}

async function told(child: ChildProcess): Promise<Record<string, unknown>> {
  const over = new AbortController();
  const died = once(child, 'exit', over).then(() => Promise.reject(new Error('The process ended.')));
  died.catch(() => undefined);
  try {
    return ((await Promise.race([once(child, 'message', over), died])) as [Record<string, unknown>])[0];
  } finally {
    over.abort();
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Starts the application of each process, and stops it; resolves to what each had to complain of. */
async function startTogether(way: 'migrationsRun' | 'migrateOnce'): Promise<unknown[]> {
  const complaints = await Promise.all(
    children.map(async (child) => (await ask(child, { url: database.url, way })).complaints),
  );
  await Promise.all(children.map((child) => ask(child, { close: true })));
  return complaints;
}

function ask(child: ChildProcess, message: object): Promise<Record<string, unknown>> {
  const answer = told(child);
  child.send(message);
  return answer;
}

async function migrationsRun(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY timestamp');
  return rows.map(({ name }) => name);
}

describe.each([
  ['an empty database', 0],
  ['tables of an older version', 1],
])(`${PROCESSES} processes that start at once on %s`, (_, count) => {
  beforeEach(() => (count > 0 ? migrate(count) : undefined));

  it('come up without a complaint by migrateOnce(), and run each migration once', async () => {
    expect(await startTogether('migrateOnce')).toEqual(children.map(() => []));
    expect((await migrationsRun()).sort()).toEqual([...ALL].sort());
    expect(await catalogue(client)).toEqual(expected);
  });

  it('come up by migrationsRun too: what TypeORM gets in the way of itself, Nest tries again', async () => {
    await startTogether('migrationsRun');
    expect(new Set(await migrationsRun())).toEqual(new Set(ALL));
    expect(await catalogue(client)).toEqual(expected);
  });
});

describe('a process that dies in a migration', () => {
  it.each([
    ['before', '^CREATE INDEX'],
    ['before', '^INSERT INTO "migrations"'],
  ])('leaves what the next one completes: %s %s', async (when, statement) => {
    const [dying, ...others] = children;
    await ask(dying!, { stopAt: { when, statement } });
    expect(await ask(dying!, { url: database.url, way: 'migrateOnce' })).toEqual({ reached: true });
    await kill(dying!);
    children = others;
    expect(await startTogether('migrateOnce')).toEqual(others.map(() => []));
    expect((await migrationsRun()).sort()).toEqual([...ALL].sort());
    expect(await catalogue(client)).toEqual(expected);
  });
});
