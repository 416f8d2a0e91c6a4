import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { createTables, startWorker, type Worker } from './worker.js';

const ASKED = Buffer.from('01' + 'aa'.repeat(32), 'hex');
const OTHER = Buffer.from('01' + 'bb'.repeat(32), 'hex');
const TOKEN = '11111111-1111-4111-8111-111111111111';

/** A row as it is found, in SQL: its lease, its expiry, and what else is not that of a claim made just now. */
interface Row {
  readonly lockedUntil: string;
  readonly expiresAt: string;
  readonly state?: 'in_progress' | 'completed';
  readonly token?: string | null;
  readonly hasSteps?: boolean;
}

const LIVE = `now() + interval '30 seconds'`;
const LAPSED = `now() - interval '1 millisecond'`;
const NOBODYS = 'NULL';
const KEPT = `now() + interval '1 day'`;
const EXPIRED = `now() - interval '1 millisecond'`;

const RECORDING = {
  status: 201,
  headers: [
    ['Content-Type', 'text/plain'],
    ['Link', '</a>'],
    ['Link', '</b>'],
  ],
  body: Buffer.from('00ff0a', 'hex'),
  omitted: null,
  resource: '/payments/1',
};

const claimed = (attempts: number) => ({ kind: 'claimed' as const, attempts });
const IN_PROGRESS = { kind: 'in_progress' } as const;
const MISMATCH = { kind: 'mismatch' } as const;
const REPLAY = { kind: 'replay', recording: RECORDING } as const;

type Answer = ReturnType<typeof claimed> | typeof IN_PROGRESS | typeof MISMATCH | typeof REPLAY;

const STATES: [state: string, row: Row | null, sameRequest: Answer, otherRequest: Answer][] = [
  ['absent', null, claimed(1), claimed(1)],
  ['in progress', { lockedUntil: LIVE, expiresAt: KEPT }, IN_PROGRESS, MISMATCH],
  ['in progress, with steps', { lockedUntil: LIVE, expiresAt: KEPT, hasSteps: true }, IN_PROGRESS, MISMATCH],
  ['in progress beyond its retention', { lockedUntil: LIVE, expiresAt: EXPIRED }, IN_PROGRESS, MISMATCH],
  ['in progress, its lease lapsed', { lockedUntil: LAPSED, expiresAt: KEPT }, claimed(8), MISMATCH],
  ['the same with steps', { lockedUntil: LAPSED, expiresAt: KEPT, hasSteps: true }, claimed(8), MISMATCH],
  ['held by nobody', { lockedUntil: NOBODYS, expiresAt: KEPT, token: null, hasSteps: true }, claimed(8), MISMATCH],
  ['lapsed and beyond its retention', { lockedUntil: LAPSED, expiresAt: EXPIRED }, claimed(1), claimed(1)],
  ['the same, with steps', { lockedUntil: LAPSED, expiresAt: EXPIRED, hasSteps: true }, claimed(1), MISMATCH],
  ['completed', { state: 'completed', lockedUntil: NOBODYS, expiresAt: KEPT }, REPLAY, MISMATCH],
  [
    'completed beyond its retention',
    { state: 'completed', lockedUntil: NOBODYS, expiresAt: EXPIRED },
    claimed(1),
    claimed(1),
  ],
];

let database: TestDatabase;
let witness: Client;
let worker: Worker;
let keys = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  await createTables(database.url);
  witness = new Client(database.url);
  await witness.connect();
  worker = await startWorker({ url: database.url });
}, 30_000);

afterAll(async () => {
  await worker?.stop();
  await witness?.end();
  await database?.drop();
});

describe.each(STATES)('an operation that is %s', (_, row, sameRequest, otherRequest) => {
  it(`is ${sameRequest.kind} for the same request`, () => expectAnswer(row, ASKED, sameRequest));
  it(`is ${otherRequest.kind} for another request under its key`, () => expectAnswer(row, OTHER, otherRequest));
});

it('tells how much is left of the lease that stands in the way', async () => {
  const key = await place({ lockedUntil: LIVE, expiresAt: KEPT });
  const arrival = await arrive(key, ASKED);
  expect(arrival).toEqual({ kind: 'in_progress', leaseLeftMs: expect.any(Number) });
  const { leaseLeftMs } = arrival as { leaseLeftMs: number };
  expect(leaseLeftMs).toBeGreaterThan(20_000);
  expect(leaseLeftMs).toBeLessThanOrEqual(30_000);
});

it('forgets the recording of an operation that begins anew', async () => {
  const key = await place({ state: 'completed', lockedUntil: NOBODYS, expiresAt: EXPIRED });
  const arrival = await arrive(key, OTHER);
  expect(arrival.kind).toBe('claimed');
  expect(await rowOf(key)).toMatchObject({
    state: 'in_progress',
    fingerprint: OTHER,
    completed_at: null,
    response_status: null,
    response_headers: null,
    response_body: null,
    resource: null,
    is_new: true,
  });
  if (arrival.kind === 'claimed') await arrival.execution.settle({ kind: 'release' });
  expect(await rowOf(key)).toBeUndefined();
});

it('holds no connection for those it turned away', async () => {
  const key = await place({ lockedUntil: LIVE, expiresAt: KEPT });
  // Twice as many as the pool has: whoever kept one would have the others wait for it.
  const arrivals = await Promise.all(Array.from({ length: 8 }, () => arrive(key, ASKED)));
  expect(arrivals.map(({ kind }) => kind)).toEqual(Array(8).fill('in_progress'));
  const { rows } = await witness.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'worker' AND state <> 'idle'`,
  );
  expect(rows).toEqual([]);
});

async function expectAnswer(row: Row | null, fingerprint: Buffer, expected: Answer): Promise<void> {
  const key = row ? await place(row) : newKey();
  const before = await rowOf(key);
  const arrival = await arrive(key, fingerprint);
  const after = await rowOf(key);
  if (arrival.kind === 'claimed') await arrival.execution.settle({ kind: 'release' });
  if (expected.kind !== 'claimed') {
    expect(arrival).toMatchObject(expected);
    expect(after).toEqual(before);
    return;
  }
  expect(arrival.kind).toBe('claimed');
  expect(after).toMatchObject({ state: 'in_progress', fingerprint, attempts: expected.attempts, is_live: true });
  expect(after!.token).not.toBe(TOKEN);
}

function newKey(): string {
  return `key-${++keys}`;
}

/** Writes a row by hand, the way it was stored. */
async function place({ state = 'in_progress', token = TOKEN, hasSteps = false, ...times }: Row): Promise<string> {
  const key = newKey();
  const answer = state === 'completed' ? [201, '[["Content-Type","text/plain"],["Link","</a>"],["Link","</b>"]]'] : [];
  await witness.query(
    `INSERT INTO idempotency_records (tenant, endpoint, key, state, fingerprint, token, has_steps, attempts, created_at,
       locked_at, locked_until, expires_at, completed_at, response_status, response_headers, response_body, resource)
     VALUES ('', 'arrivals', $1, $2::text, $3, $4, $5, 7, now() - interval '1 hour', now() - interval '1 hour',
       ${times.lockedUntil}, ${times.expiresAt}, CASE WHEN $2 = 'completed' THEN now() END, $6, $7, $8, $9)`,
    [
      key,
      state,
      ASKED,
      token,
      hasSteps,
      ...(state === 'completed' ? [...answer, RECORDING.body, '/payments/1'] : [null, null, null, null]),
    ],
  );
  return key;
}

function arrive(key: string, fingerprint: Buffer) {
  return worker.executor.arrive({
    operation: { tenant: '', endpoint: 'arrivals', key },
    fingerprint,
    strategy: { kind: 'lease' },
    leaseMs: 60_000,
    retentionMs: 86_400_000,
  });
}

async function rowOf(key: string): Promise<Record<string, unknown> | undefined> {
  const { rows } = await witness.query<Record<string, unknown>>(
    `SELECT *, locked_until > now() AS is_live, created_at > now() - interval '1 minute' AS is_new
       FROM idempotency_records WHERE endpoint = 'arrivals' AND key = $1`,
    [key],
  );
  return rows[0];
}
