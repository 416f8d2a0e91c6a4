import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { ClaimStrategy } from '../../libs/idempotency/src/core/attempt.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { STRATEGIES } from './strategies.js';
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

const BARE_RECORDING = { status: 204, headers: [], body: null, omitted: null, resource: null };

const claimed = (attempts: number) => ({ kind: 'claimed' as const, attempts });
const IN_PROGRESS = { kind: 'in_progress' } as const;
const MISMATCH = { kind: 'mismatch' } as const;
const REPLAY = { kind: 'replay', recording: RECORDING } as const;

type Answer = ReturnType<typeof claimed> | typeof IN_PROGRESS | typeof MISMATCH | typeof REPLAY;

/** Steps are for leases: what has some is never taken over by a transaction. */
const withSteps = (lease: Answer) => ({ lease, transaction: IN_PROGRESS });

type Expected = Answer | { readonly lease: Answer; readonly transaction: Answer };

const STATES: [state: string, row: Row | null, sameRequest: Expected, otherRequest: Expected][] = [
  ['absent', null, claimed(1), claimed(1)],
  ['in progress', { lockedUntil: LIVE, expiresAt: KEPT }, IN_PROGRESS, MISMATCH],
  ['in progress, with steps', { lockedUntil: LIVE, expiresAt: KEPT, hasSteps: true }, IN_PROGRESS, MISMATCH],
  ['in progress beyond its retention', { lockedUntil: LIVE, expiresAt: EXPIRED }, IN_PROGRESS, MISMATCH],
  ['in progress, its lease lapsed', { lockedUntil: LAPSED, expiresAt: KEPT }, claimed(8), MISMATCH],
  ['the same with steps', { lockedUntil: LAPSED, expiresAt: KEPT, hasSteps: true }, withSteps(claimed(8)), MISMATCH],
  [
    'held by nobody',
    { lockedUntil: NOBODYS, expiresAt: KEPT, token: null, hasSteps: true },
    withSteps(claimed(8)),
    MISMATCH,
  ],
  ['lapsed and beyond its retention', { lockedUntil: LAPSED, expiresAt: EXPIRED }, claimed(1), claimed(1)],
  [
    'the same, with steps',
    { lockedUntil: LAPSED, expiresAt: EXPIRED, hasSteps: true },
    withSteps(claimed(1)),
    MISMATCH,
  ],
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
/** The same with a driver that does not wait for one answer before it sends the next statement. */
let pipelined: Worker;
/** Another process of the application. */
let other: Worker;
let keys = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  await createTables(database.url);
  witness = new Client(database.url);
  await witness.connect();
  worker = await startWorker({ url: database.url });
  pipelined = await startWorker({ url: database.url, isPipelined: true });
  other = await startWorker({ url: database.url });
}, 30_000);

afterAll(async () => {
  await worker?.stop();
  await pipelined?.stop();
  await other?.stop();
  await witness?.end();
  await database?.drop();
});

const WAYS = [
  ...STRATEGIES.map(([name, strategy]) => ({ name, strategy, on: () => worker })),
  ...STRATEGIES.map(([name, strategy]) => ({ name: `${name}, over a pipeline`, strategy, on: () => pipelined })),
];

describe.each(WAYS)('to a request that claims by $name', (way) => {
  const { strategy } = way;
  describe.each(STATES)('an operation that is %s', (_, row, sameRequest, otherRequest) => {
    const [same, another] = [expectedOf(sameRequest, strategy), expectedOf(otherRequest, strategy)];
    it(`is ${same.kind} for the same request`, () => expectAnswer(way, row, ASKED, same));
    it(`is ${another.kind} for another request under its key`, () => expectAnswer(way, row, OTHER, another));
  });

  it('tells how much is left of the lease that stands in the way', async () => {
    const key = await place({ lockedUntil: LIVE, expiresAt: KEPT });
    const arrival = await arrive(way, key, ASKED);
    expect(arrival).toEqual({ kind: 'in_progress', leaseLeftMs: expect.any(Number) });
    const { leaseLeftMs } = arrival as { leaseLeftMs: number };
    expect(leaseLeftMs).toBeGreaterThan(20_000);
    expect(leaseLeftMs).toBeLessThanOrEqual(30_000);
  });

  it('forgets the recording of an operation that begins anew', async () => {
    const key = await place({ state: 'completed', lockedUntil: NOBODYS, expiresAt: EXPIRED });
    const { execution } = await claim(way, key, OTHER);
    if (strategy.kind === 'lease') {
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
    }
    await execution.begin();
    expect(await execution.settle({ kind: 'commit', recording: BARE_RECORDING })).toEqual({ kind: 'recorded' });
    expect(await rowOf(key)).toMatchObject({
      state: 'completed',
      fingerprint: OTHER,
      response_status: 204,
      response_headers: '[]',
      response_body: null,
      resource: null,
      is_new: true,
    });
  });

  it('is free again when it was released', async () => {
    const key = newKey();
    const { execution } = await claim(way, key, ASKED);
    expect(await execution.settle({ kind: 'release' })).toEqual({ kind: 'released' });
    expect(await rowOf(key)).toBeUndefined();
    const next = await claim(way, key, OTHER);
    await next.execution.settle({ kind: 'release' });
  });

  describe('an operation under whose key work is being done', () => {
    it('is in progress for the same request', async () => {
      const { key, finish } = await startWork(way);
      expect(await arrive(way, key, ASKED)).toEqual({ kind: 'in_progress', leaseLeftMs: expect.any(Number) });
      await finish();
      expect(await arrive(way, key, ASKED)).toEqual({ kind: 'replay', recording: BARE_RECORDING });
    });

    // A transaction shows nobody what it was asked before it commits: that is told afterwards.
    const early = strategy.kind === 'lease' ? 'mismatch' : 'in_progress';
    it(`is ${early} for another request, and a mismatch when the work is done`, async () => {
      const { key, finish } = await startWork(way);
      expect((await arrive(way, key, OTHER)).kind).toBe(early);
      await finish();
      expect(await arrive(way, key, OTHER)).toEqual(MISMATCH);
    });

    it('holds no connection for those it turned away', async () => {
      const { key, finish } = await startWork(way);
      // Twice as many as the pool has: whoever kept one would have the others wait for it.
      const arrivals = await Promise.all(Array.from({ length: 8 }, () => arrive(way, key, ASKED)));
      expect(arrivals.map(({ kind }) => kind)).toEqual(Array(8).fill('in_progress'));
      expect(await openTransactions()).toBe(1);
      await finish();
      expect(await openTransactions()).toBe(0);
    });

    it('does not keep another operation from being done', async () => {
      const { finish } = await startWork(way);
      const beside = await startWork(way);
      await beside.finish();
      await finish();
    });
  });
});

/** How a request claims, and where. */
interface Way {
  readonly strategy: ClaimStrategy;
  on(): Worker;
}

function expectedOf(expected: Expected, { kind }: ClaimStrategy): Answer {
  return 'lease' in expected ? expected[kind] : expected;
}

async function expectAnswer(way: Way, row: Row | null, fingerprint: Buffer, expected: Answer): Promise<void> {
  const key = row ? await place(row) : newKey();
  const before = await rowOf(key);
  const arrival = await arrive(way, key, fingerprint);
  const after = await rowOf(key);
  if (arrival.kind !== 'claimed' || expected.kind !== 'claimed') {
    expect(arrival).toMatchObject(expected);
    expect(after).toEqual(before);
    return;
  }
  const { attempts } = expected;
  if (way.strategy.kind === 'lease') {
    expect(after).toMatchObject({ state: 'in_progress', fingerprint, attempts, is_live: true });
    expect(after!.token).not.toBe(TOKEN);
  } else {
    // Seen by nobody before it is done: a worker that dies leaves things as they were.
    expect(after).toEqual(before);
  }
  await arrival.execution.begin();
  expect(await arrival.execution.settle({ kind: 'commit', recording: BARE_RECORDING })).toEqual({ kind: 'recorded' });
  expect(await rowOf(key)).toMatchObject({
    state: 'completed',
    fingerprint,
    attempts,
    locked_until: null,
    response_status: 204,
    is_kept: true,
  });
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

function arrive({ strategy, on }: Way, key: string, fingerprint: Buffer) {
  return on().executor.arrive({
    operation: { tenant: '', endpoint: 'arrivals', key },
    fingerprint,
    strategy,
    leaseMs: 60_000,
    retentionMs: 86_400_000,
  });
}

async function claim(way: Way, key: string, fingerprint: Buffer) {
  const arrival = await arrive(way, key, fingerprint);
  if (arrival.kind !== 'claimed') throw new Error(`The operation is ${arrival.kind}.`);
  return arrival;
}

/** Work that another process is in the middle of. */
async function startWork({ strategy }: Way) {
  const key = newKey();
  const { execution } = await claim({ strategy, on: () => other }, key, ASKED);
  const manager = await execution.begin();
  await manager.query(`INSERT INTO effects VALUES ($1, 'work', 1)`, [key]);
  const finish = async (): Promise<void> => {
    expect(await execution.settle({ kind: 'commit', recording: BARE_RECORDING })).toEqual({ kind: 'recorded' });
  };
  return { key, finish };
}

async function openTransactions(): Promise<number> {
  const { rows } = await witness.query<{ count: number }>(
    `SELECT count(*)::int FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'worker' AND state <> 'idle'`,
  );
  return rows[0]!.count;
}

async function rowOf(key: string): Promise<Record<string, unknown> | undefined> {
  const { rows } = await witness.query<Record<string, unknown>>(
    `SELECT *, locked_until > now() AS is_live, created_at > now() - interval '1 minute' AS is_new,
            expires_at > now() + interval '23 hours' AS is_kept
       FROM idempotency_records WHERE endpoint = 'arrivals' AND key = $1`,
    [key],
  );
  return rows[0];
}
