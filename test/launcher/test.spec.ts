import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Launched, endAll, launch } from './launch.js';
import { makeProject } from './stand-in/project.js';

// Each takes a second or two on an idle machine.
jest.setTimeout(120_000);

let project: string;

beforeAll(() => {
  project = makeProject();
  const spec = (sql: string): string => `
    import pg from 'pg';
    test('on a database', async () => {
      const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
      await client.connect();
      process.stderr.write('connected');
      await client.query("${sql}").finally(() => client.end());
    });`;
  writeFileSync(join(project, 'test/passing.spec.js'), spec('SELECT'));
  writeFileSync(join(project, 'test/failing.spec.js'), spec('nonsense'));
  writeFileSync(join(project, 'test/endless.spec.js'), spec('SELECT pg_sleep(3600)'));
});

afterEach(async () => {
  await endAll();
  expect(existsSync(join(project, '.local/postgres-test/data/postmaster.pid'))).toBe(false);
});

afterAll(() => rmSync(project, { recursive: true }));

const test = (...args: string[]): Launched => launch([process.execPath, join(project, 'scripts/test.js'), ...args]);

describe('npm test', () => {
  it('brings a database, passes its arguments on, and says what it left out', async () => {
    const launched = test('test/passing', '-t', 'database');
    expect(await launched.ended).toBe(0);
    expect(launched.output()).toMatch(/1 passed, 1 total[^]*\nLeft out: .* `npm run test:brokers` runs them\.\n$/);
  });

  it('fails when a test fails', async () => {
    const launched = test('test/failing');
    expect(await launched.ended).toBe(1);
    expect(launched.output()).toContain('1 failed, 1 total');
  });

  it('stops its database when interrupted', async () => {
    const launched = test('test/endless');
    await launched.printed(/connected/);
    process.kill(launched.pid, 'SIGINT');
    expect(await launched.ended).toBe(130);
  });
});
