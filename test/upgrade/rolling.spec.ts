import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { idempotencyMigrations } from 'nestjs-idempotency';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import type { Version } from './app.js';
import { Load } from './load.js';
import { AppProcess } from './process.js';
import { send } from './request.js';

jest.setTimeout(240_000);

/** What is answered before each change. */
const KEYS = 12;

let database: TestDatabase;
let client: Client;
const processes: AppProcess[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
});

afterAll(async () => {
  await Promise.all(processes.map((running) => running.end('SIGKILL')));
  await client?.end();
  await database?.drop();
});

async function start(version: Version): Promise<AppProcess> {
  const started = await AppProcess.start({ url: database.url, version, leaseMs: 1_000 });
  processes.push(started);
  return started;
}

async function namesIn(query: string): Promise<string[]> {
  return (await client.query<{ name: string }>(query)).rows.map(({ name }) => name);
}

const migrationsRun = () => namesIn('SELECT name FROM migrations ORDER BY timestamp');

/** Old records, so many that an index is not made in an instant. */
async function fill(): Promise<void> {
  await client.query(
    `INSERT INTO idempotency_records (tenant, endpoint, key, fingerprint, state, created_at, expires_at, response_body)
     SELECT '', 'old', n::text, '', 'completed', now(), now() + interval '1 day', convert_to(repeat('x', 500), 'UTF8')
     FROM generate_series(1, 20000) n`,
  );
}

it('an upgrade one process at a time, with requests going on, answers every key once and with the same bytes', async () => {
  const first = await start('previous');
  await fill();
  const second = await start('previous');
  const old = await migrationsRun();
  expect(old.length).toBeLessThan(idempotencyMigrations.length);

  const load = new Load(processes);
  await load.answered(KEYS);
  const before = load.settled.length;
  await start('current');
  // Its migrations ran while requests were answered, and the old ones serve on.
  expect(await migrationsRun()).toEqual(idempotencyMigrations.map(({ name }) => name));
  expect(load.settled.length).toBeGreaterThan(before);
  await load.answered(KEYS);
  await first.end('SIGKILL');
  await load.answered(KEYS);
  await start('current');
  await load.answered(KEYS);
  await second.end('SIGTERM');
  await load.answered(KEYS);
  await load.stop();

  expect(load.unexpected).toEqual([]);
  expect(Object.fromEntries(load.replays)).toMatchObject({
    'previous by current': expect.any(Number),
    'current by previous': expect.any(Number),
  });
  const alive = processes.filter(({ isAlive }) => isAlive);
  expect(alive.map(({ version }) => version)).toEqual(['current', 'current']);
  for (const { endpoint, key, bytes } of load.settled) {
    const again = await Promise.all(alive.map((running) => send(running, endpoint, key, { amount: 1 })));
    expect(again.map(({ isReplay }) => isReplay)).toEqual([true, true]);
    expect(new Set([...bytes, ...again.map((answer) => answer.bytes)]).size).toBe(1);
  }
  const { rows: effects } = await client.query<{ key: string }>('SELECT key FROM effects ORDER BY key');
  const written = load.settled.filter(({ endpoint }) => endpoint !== 'refused').map(({ key }) => key);
  expect(effects.map(({ key }) => key)).toEqual(written.sort());
  const { rows: charges } = await client.query<{ key: string }>('SELECT key FROM charges ORDER BY key');
  const charged = load.settled.filter(({ endpoint }) => endpoint === 'charged').map(({ key }) => key);
  expect(charges.map(({ key }) => key)).toEqual(charged.sort());
});
