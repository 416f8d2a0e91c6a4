import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { Cli, environmentOf } from './cli.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let witness: Client;
let cli: Cli;

beforeAll(async () => {
  database = await createTestDatabase();
  witness = new Client({ connectionString: database.url });
  await witness.connect();
  cli = new Cli(environmentOf(database.url));
});

afterAll(async () => {
  await witness?.end();
  await database?.drop();
});

const fixture = (name: string): string => join(import.meta.dirname, 'fixture', name);

/** A record whose key is the name of its table. */
async function insertInto(table: string, spelt = (column: string): string => column): Promise<void> {
  const columns = ['tenant', 'endpoint', 'key', 'state', 'fingerprint', 'created_at', 'expires_at'];
  await witness.query(
    `INSERT INTO ${table} (${columns.map((column) => `"${spelt(column)}"`).join()})
     VALUES ('acme', 'payments', $1, 'completed', '', now(), now() + interval '1 day')`,
    [table],
  );
}

const upper = (column: string): string => column.toUpperCase();

describe.each<[names: string, options: string[], table: string, spelt?: typeof upper]>([
  ['the default names', [], 'public.idempotency_records'],
  ['a schema and a prefix', ['--schema', 'Payments', '--prefix', 'app_'], '"Payments".app_idempotency_records'],
  ['a snake naming strategy', ['--naming', 'snake', '--prefix', 'snake_'], 'public.snake_idempotency_records'],
  ['the names of a data source', ['--data-source', fixture('shouting.cjs')], 'public."IDEMPOTENCY_RECORDS"', upper],
])('under %s', (_, options, table, spelt) => {
  it('missing tables are named with the remedy, and the printed schema serves', async () => {
    const missing = await cli.run('list', ...options);
    expect(missing).toMatchObject({ code: 3, stdout: '' });
    expect(missing.stderr).toMatch(/does not exist[^]*idempotencyMigrations[^]*--schema, --prefix or --data-source/);
    const { stdout: sql } = await cli.run('schema', 'print', ...options);
    await witness.query(`CREATE SCHEMA IF NOT EXISTS "Payments"; ${sql}`);
    await insertInto(table, spelt);
    const { records } = (await cli.run('list', '--json', ...options)).json<{ records: object[] }>();
    expect(records).toMatchObject([{ tenant: 'acme', key: table }]);
  });
});

describe('a data source', () => {
  it('does nothing of what it does for its application', async () => {
    const { rows } = await witness.query(`SELECT FROM pg_tables WHERE tablename ~* '^order$'`);
    expect(rows).toEqual([]);
  });

  it('is looked at on its primary, and not on its replicas', async () => {
    const ended = await cli.run('list', '--json', '--data-source', fixture('replicated.mjs'));
    expect(ended.json()).toMatchObject({ records: [{ key: '"Payments".app_idempotency_records' }] });
  });

  it.each(['nothing.mjs', 'not-there.mjs'])('that is none is refused: %s', async (name) => {
    const ended = await cli.run('list', '--data-source', fixture(name));
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(name) });
  });
});

describe('a database', () => {
  it('is found by the variables of libpq', async () => {
    const { hostname, port, username, password, pathname } = new URL(database.url);
    const variables = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: decodeURIComponent(password) };
    const there = new Cli(environmentOf(undefined, { ...variables, PGDATABASE: pathname.slice(1) }));
    const ended = await there.run('schema', 'check');
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`serve: ${database.name} on ${hostname}`) });
  });

  it('that is not said, or not one of PostgreSQL, is refused', async () => {
    const nowhere = new Cli(environmentOf(undefined));
    const [none, other] = await Promise.all([
      nowhere.run('list'),
      nowhere.run('list', '--url', 'mysql://u:secret@h/d'),
    ]);
    expect(none).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('DATABASE_URL') });
    expect(other).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('postgres://') });
    expect(other.stderr).not.toContain('secret');
  });

  it('that is away, or not there, is said to be, without the password', async () => {
    const [away, missing] = await Promise.all([
      cli.run('list', '--url', 'postgres://user:secr@t@127.0.0.1:1/none'),
      cli.run('list', '--json', '--url', database.url.replace(database.name, 'not_there')),
    ]);
    expect(away).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/did not answer: .*ECONNREFUSED/),
    });
    expect(missing).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/no such database.*3D000/) });
    expect(away.stderr + missing.stderr).not.toMatch(/secr|:t@/);
  });

  it('that can only be read is left for the primary', async () => {
    await witness.query(`ALTER DATABASE ${database.name} SET default_transaction_read_only = on`);
    try {
      const ended = await cli.run('expire', 'acme', 'payments', 'public.idempotency_records', '--yes');
      expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('Connect to the primary.') });
    } finally {
      await witness.query(`ALTER DATABASE ${database.name} RESET default_transaction_read_only`);
    }
  });

  it('that takes too long is asked no longer', async () => {
    await witness.query('BEGIN; LOCK TABLE idempotency_records');
    try {
      const ended = await cli.run('list', '--timeout', '200ms');
      expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('--timeout') });
    } finally {
      await witness.query('ROLLBACK');
    }
  });
});

describe('the command line', () => {
  it('has help with an example for every command, and a version', async () => {
    const { stdout } = await cli.run('--help');
    const commands = [...stdout.matchAll(/^ {2}(\w+) \[options\]/gm)].map(([, name]) => [name!]);
    expect(commands.length).toBeGreaterThanOrEqual(6);
    const helps = [...commands, ['schema', 'print'], ['schema', 'check']].map((command) =>
      cli.run(...command, '--help'),
    );
    for (const help of await Promise.all(helps)) {
      expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^Example:\n {2}\$ npx /m) });
    }
    expect(await cli.run('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  it('refuses what it does not understand, and repeats no password', async () => {
    const wrong = [
      [],
      ['lits'],
      ['list', '--state', 'lost'],
      ['list', '--limit', '0'],
      ['list', '--older-than', 'soon'],
      ['show', 'acme', 'payments'],
      ['list', '--urll=postgres://user:secret@host/database'],
      ['list', '--urll=postgres://user:a secret/of two@host/database'],
      ['list', '--urll=postgres://user@host/database?ssl=true&password=secret'],
    ];
    for (const ended of await Promise.all(wrong.map((args) => cli.run(...args)))) {
      expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/\S/) });
      expect(ended.stderr).not.toContain('secret');
    }
  });
});
