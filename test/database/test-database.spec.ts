import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Client, escapeIdentifier } from 'pg';
import { onServer } from './server.js';
import { type TestDatabase, createTestDatabase } from './test-database.js';
import type { Template } from './template.js';

// Some run a jest of their own.
jest.setTimeout(60_000);

const open: TestDatabase[] = [];
const templates: string[] = [];

async function create(template?: Template): Promise<TestDatabase> {
  const database = await createTestDatabase(template && { template });
  open.push(database);
  return database;
}

function templateNamed(prepare: Template['prepare']): Template {
  const name = `spec_${randomBytes(4).toString('hex')}`;
  templates.push(`template_${name}`);
  return { name, prepare };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((database) => database.drop()));
  await onServer(async (client) => {
    for (const name of templates.splice(0)) {
      await client.query(`ALTER DATABASE ${escapeIdentifier(name)} IS_TEMPLATE false`);
      await client.query(`DROP DATABASE ${escapeIdentifier(name)}`);
    }
  });
});

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function exists(name: string): Promise<boolean> {
  const { rowCount } = await onServer((client) => client.query('SELECT FROM pg_database WHERE datname = $1', [name]));
  return rowCount === 1;
}

describe('a test database', () => {
  it('is empty, and named after its spec file', async () => {
    const { name, url } = await create();
    expect(name).toMatch(/^test_test_database_[0-9a-f]{8}$/);
    expect(await query(url, 'SELECT current_database() AS name')).toEqual([{ name }]);
    expect(await query(url, `SELECT FROM pg_tables WHERE schemaname = 'public'`)).toEqual([]);
  });

  it('is dropped, also while an application is connected', async () => {
    const database = await create();
    const client = new Client({ connectionString: database.url });
    client.on('error', () => {});
    await client.connect();
    await open.pop()?.drop();
    expect(await exists(database.name)).toBe(false);
  });

  it('clones its template, which is prepared once, also when several files ask at the same time', async () => {
    let preparations = 0;
    const template = templateNamed(async (url) => {
      preparations += 1;
      await query(url, 'CREATE TABLE payments AS SELECT 42 AS amount');
    });
    const [first, second] = await Promise.all([create(template), create(template)]);
    await query(first.url, 'DELETE FROM payments');
    expect(await query(second.url, 'SELECT amount FROM payments')).toEqual([{ amount: 42 }]);
    expect(preparations).toBe(1);
  });

  it('prepares a template again whose preparation was cut short', async () => {
    const template = templateNamed((url) => query(url, 'CREATE TABLE payments ()').then(() => undefined));
    const failing = {
      ...template,
      prepare: (url: string) => template.prepare(url).then(() => Promise.reject(new Error('cut short'))),
    };
    await expect(create(failing)).rejects.toThrow('cut short');
    const { url } = await create(template);
    expect(await query(url, 'SELECT FROM payments')).toEqual([]);
  });
});

describe('a spec file with a test database', () => {
  it('keeps the database and prints its name when one of its tests failed', async () => {
    const { output, name } = runFixture({ OUTCOME: 'fail' });
    expect(output).toContain(`its database ${name} is kept`);
    expect(await exists(name)).toBe(true);
    await onServer((client) => client.query(`DROP DATABASE ${escapeIdentifier(name)}`));
  });

  it('drops the database when all of its tests passed', async () => {
    const { output, name } = runFixture({ OUTCOME: 'pass' });
    expect(output).toContain('1 passed');
    expect(await exists(name)).toBe(false);
  });

  it('fails without DATABASE_URL, and says how to get one', () => {
    const { output } = runFixture({ OUTCOME: 'pass', DATABASE_URL: '' });
    expect(output).toContain('Run them by `npm test -- <path>`');
    expect(output).toContain('1 failed');
  });
});

/** Runs fixture/one-test.fixture.ts in a jest of its own. */
function runFixture(environment: NodeJS.ProcessEnv): { output: string; name: string } {
  const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...jest, '--config', join(import.meta.dirname, 'fixture/jest.config.js')],
    { cwd: join(import.meta.dirname, '../..'), encoding: 'utf8', env: { ...process.env, ...environment } },
  );
  const output = stdout + stderr;
  return { output, name: /<(\w+)>/.exec(output)?.[1] ?? '' };
}
