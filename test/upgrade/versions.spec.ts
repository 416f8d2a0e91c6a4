import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import type { Place, Version } from './app.js';
import { AppProcess } from './process.js';
import { type Endpoint, ENDPOINTS, send } from './request.js';

jest.setTimeout(120_000);

const LEASE_MS = 60_000;
const OTHER = { previous: 'current', current: 'previous' } as const;

const DEATHS: [Endpoint, Place][] = [
  ['lease', 'before COMMIT'],
  ['transaction', 'before COMMIT'],
  ['charged', 'in the call'],
  ['charged', 'after the call'],
  ['charged', 'before COMMIT'],
];

let database: TestDatabase;
let client: Client;
let processes: Record<Version, AppProcess>;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.url);
  await client.connect();
  const previous = await start('previous');
  processes = { previous, current: await start('current') };
  await Promise.all([die('previous'), die('current')]);
});

afterAll(async () => {
  await Promise.all(Object.values(processes ?? {}).map((running) => running.end('SIGKILL')));
  await client?.end();
  await database?.drop();
});

function start(version: Version, isDoomed = false): Promise<AppProcess> {
  return AppProcess.start({ url: database.url, version, leaseMs: LEASE_MS, isDoomed });
}

const doomedKey = (version: Version, endpoint: Endpoint, at: Place): string =>
  `${version}-${endpoint}-${at.replaceAll(' ', '-')}`;

/** Has a process of this version die of all the deaths at once. */
async function die(version: Version): Promise<void> {
  const doomed = await start(version, true);
  const answers = await Promise.all(
    DEATHS.map(async ([endpoint, standsAt]) => {
      const key = doomedKey(version, endpoint, standsAt);
      const standing = doomed.standing(key);
      const answer = send(doomed, endpoint, key, { amount: 1, standsAt });
      const isStanding = await Promise.race([standing.then(() => true), answer]);
      expect(isStanding).toBe(true);
      return { answer };
    }),
  );
  await doomed.end('SIGKILL');
  for (const { answer } of answers) expect(await answer).toMatchObject({ status: 0 });
}

async function countOf(table: 'effects' | 'charges', key: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`SELECT count(*)::int FROM ${table} WHERE key = $1`, [key]);
  return rows[0]!.count;
}

/** Lets the lease of an operation run out. */
async function lapse(key: string): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE idempotency_records SET locked_until = now() WHERE key = $1 AND state = 'in_progress'`,
    [key],
  );
  expect(rowCount).toBe(1);
}

describe.each(['previous', 'current'] as const)('what the %s version has written', (version) => {
  it.each(ENDPOINTS)('is replayed by the other one, byte for byte: %s', async (endpoint) => {
    const key = randomUUID();
    const first = await send(processes[version], endpoint, key, { amount: 1 });
    expect(first).toMatchObject({ status: endpoint === 'refused' ? 409 : 201, isReplay: false, code: undefined });
    const replay = await send(processes[OTHER[version]], endpoint, key, { amount: 1 });
    expect(replay).toEqual({ ...first, isReplay: true });
    expect(await countOf('effects', key)).toBe(endpoint === 'refused' ? 0 : 1);
  });

  it.each(ENDPOINTS)('is not taken by the other one for another request: %s', async (endpoint) => {
    const key = randomUUID();
    await send(processes[version], endpoint, key, { amount: 1 });
    const mismatch = await send(processes[OTHER[version]], endpoint, key, { amount: 2 });
    expect(mismatch).toMatchObject({ status: 422, code: 'idempotency-key-reused' });
  });

  it.each(DEATHS)('is carried on by the other one when its process dies: %s, %s', async (endpoint, standsAt) => {
    const key = doomedKey(version, endpoint, standsAt);
    const other = processes[OTHER[version]];
    const ask = () => send(other, endpoint, key, { amount: 1, standsAt });
    if (endpoint !== 'transaction') {
      expect(await ask()).toMatchObject({ status: 409, code: 'idempotency-request-in-progress' });
      await lapse(key);
    }
    let answer = await ask();
    // Where there is no lease, the server ends the dead transaction when it notices.
    while (answer.status === 409) answer = await ask();
    expect(answer).toMatchObject({ status: 201, isReplay: false });
    expect(answer.bytes).toContain(`"by":"${OTHER[version]}"`);
    if (endpoint === 'charged') {
      // A result that is on record is taken from there; a call of which nobody knows is made again, under its key.
      expect(answer.bytes).toContain(`"charged":"${standsAt === 'in the call' ? OTHER[version] : version}"`);
      expect(await countOf('charges', key)).toBe(1);
    }
    expect(await countOf('effects', key)).toBe(1);
    const replay = await send(processes[version], endpoint, key, { amount: 1, standsAt });
    expect(replay).toEqual({ ...answer, isReplay: true });
  });
});
