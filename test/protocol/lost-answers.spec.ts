import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { EntityManager } from 'typeorm';
import type { Attempt, ClaimStrategy } from '../../libs/idempotency/src/core/attempt.js';
import type { Claim } from '../../libs/idempotency/src/core/claim.js';
import type { Execution, Fate } from '../../libs/idempotency/src/core/execution.js';
import { refusalOf } from '../../libs/idempotency/src/core/refusal.js';
import { lockOf } from '../../libs/idempotency/src/storage/operation-lock.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { gate } from './gate.js';
import { untilQuiet } from './judge.js';
import { type Proxy, startProxy } from './proxy.js';
import { watching } from './statement-watch.js';
import { LEASE, TRANSACTION } from './strategies.js';
import { until } from './until.js';
import { createTables, startWorker, type Worker } from './worker.js';

const RECORDING = { status: 201, headers: [], body: Buffer.from('done'), omitted: null, resource: null };

/** What is different where operations are claimed in one way or the other. */
interface Way {
  readonly strategy: ClaimStrategy;
  /** Part of the statement that claims. */
  readonly claimText: string;
  /** The statement that finds out what became of a COMMIT. */
  readonly resolver: string;
  /** What everybody sees of an operation in flight. */
  readonly rowInFlight: object | undefined;
  /** Keeps the resolver from finding out. */
  block(client: Client, attempt: Attempt): Promise<unknown>;
  /** The attempt that can come in between. */
  overtaking(attempt: Attempt): Promise<Attempt>;
}

const BY_LEASE: Way = {
  strategy: LEASE,
  claimText: 'idempotency_claim',
  resolver: 'idempotency_release',
  rowInFlight: { state: 'in_progress', is_live: true },
  block: (client, { operation }) =>
    client.query('SELECT FROM idempotency_records WHERE key = $1 FOR UPDATE', [operation.key]),
  overtaking: async (attempt) => {
    await lapse(attempt);
    return attempt;
  },
};

const BY_TRANSACTION: Way = {
  strategy: TRANSACTION,
  claimText: 'pg_try_advisory_xact_lock',
  resolver: 'BEGIN',
  rowInFlight: undefined,
  block: (client, { operation }) =>
    client.query('SELECT pg_advisory_xact_lock($1)', [lockOf('"idempotency_records"', operation)]),
  // Nobody who asks for its lock can; while another strategy is being rolled out there are those who do not.
  overtaking: (attempt) => Promise.resolve({ ...attempt, strategy: LEASE }),
};

let database: TestDatabase;
let witness: Client;
/** Its connections to the database pass through a network that can be told to fail. */
let worker: Worker;
/** Another one, which nothing befalls. */
let other: Worker;
let proxy: Proxy;
let reports: string[];
let keys = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  await createTables(database.url);
  witness = new Client(database.url);
  await witness.connect();
  other = await startWorker({ url: database.url });
}, 30_000);

beforeEach(async () => {
  reports = [];
  proxy = await startProxy(database.url);
  worker = await startUnlucky(3_000);
}, 30_000);

afterEach(async () => {
  await proxy?.close();
  await worker?.stop();
});

afterAll(async () => {
  await other?.stop();
  await witness?.end();
  await database?.drop();
});

describe.each([
  ['a lease', BY_LEASE],
  ['a transaction', BY_TRANSACTION],
])('of an operation that is claimed by %s', (_, way) => {
  describe('a COMMIT whose answer is lost', () => {
    it('is known to have happened when the connection broke after it', async () => {
      const { attempt, execution } = await startWork(worker, newAttempt(way));
      const lost = proxy.lose('COMMIT', 'cut after');

      const fate = await execution.settle({ kind: 'commit', recording: RECORDING });

      await lost;
      expect(fate).toEqual({ kind: 'recorded' });
      await expectDone(attempt);
    });

    it('is known to have happened also when its recording need not be kept any more', async () => {
      const { execution, attempt } = await startWork(worker, { ...newAttempt(way), retentionMs: 1 });
      const lost = proxy.lose('COMMIT', 'cut after');

      const fate = await execution.settle({ kind: 'commit', recording: RECORDING });

      await lost;
      expect(fate).toEqual({ kind: 'recorded' });
      await expectDone(attempt);
    });

    it('is known not to have happened when the connection broke before it', async () => {
      const { attempt, execution } = await startWork(worker, newAttempt(way));
      const lost = proxy.lose('COMMIT', 'cut before');

      const fate = await execution.settle({ kind: 'commit', recording: RECORDING });

      await lost;
      expect(fate.kind).toBe('failed');
      await expectUndoneAndFree(attempt);
    });

    it('is known to have happened when the network fell silent after it', async () => {
      const { attempt, execution } = await startWork(worker, newAttempt(way));
      const lost = proxy.lose('COMMIT', 'hang after');

      const fate = await execution.settle({ kind: 'commit', recording: RECORDING });

      await lost;
      expect(fate).toEqual({ kind: 'recorded' });
      await expectDone(attempt);
    }, 30_000);

    it('is known not to have happened when the network fell silent before it', async () => {
      const { attempt, execution } = await startWork(worker, newAttempt(way));
      const lost = proxy.lose('COMMIT', 'hang before');

      const fate = await execution.settle({ kind: 'commit', recording: RECORDING });

      await lost;
      expect(fate.kind).toBe('failed');
      await expectUndoneAndFree(attempt);
    }, 30_000);

    it('is undone by the server within seconds, so that a dead host keeps no lock until its lease ends', async () => {
      const { attempt, execution } = await startWork(worker, newAttempt(way));
      const lost = proxy.lose('COMMIT', 'hang before');
      const settled = execution.settle({ kind: 'commit', recording: RECORDING });
      await lost;

      await untilQuiet(witness);

      await expectInFlight(way, attempt);
      expect(await effectsOf(attempt)).toBe(0);
      await proxy.close();
      await settled;
    }, 30_000);

    it('stays unknown while the row cannot be had, and leaves the claim where it is', async () => {
      // Patient enough to hear the database say that the lock is not to be had.
      await worker.stop();
      worker = await startUnlucky(10_000);
      const { attempt, execution } = await startWork(worker, newAttempt(way));
      const lost = proxy.lose('COMMIT', 'cut before');
      const blocker = new Client(database.url);
      await blocker.connect();
      await blocker.query('BEGIN');
      const settled = watching(
        async ({ statement, send }) => {
          if (statement === way.resolver) await way.block(blocker, attempt);
          return send();
        },
        () => execution.settle({ kind: 'commit', recording: RECORDING }),
      );
      await lost;

      const fate = await settled;

      await blocker.end();
      expect(fate.kind).toBe('unknown');
      await expectInFlight(way, attempt);
      expect(await effectsOf(attempt)).toBe(0);
      expect(reports).toContainEqual(expect.stringContaining('claim stays until the lease runs out'));
    }, 30_000);
  });

  describe('a claim whose answer is lost', () => {
    it('is given up at once, so that nobody waits for its lease', async () => {
      const attempt = newAttempt(way);
      const lost = proxy.lose(way.claimText, 'cut after');

      await expect(worker.executor.arrive(attempt)).rejects.toMatchObject({ code: 'idempotency-store-unavailable' });

      await lost;
      await untilQuiet(witness);
      await until('the claim is given up', async () => (await rowOf(attempt)) === undefined);
      await expectClaimable(attempt);
    });

    it('leaves nothing where it was never made', async () => {
      const attempt = newAttempt(way);
      const lost = proxy.lose(way.claimText, 'cut before');

      await expect(worker.executor.arrive(attempt)).rejects.toMatchObject({ code: 'idempotency-store-unavailable' });

      await lost;
      await expectClaimable(attempt);
    });
  });

  describe('a recording', () => {
    it('that is not made in the transaction of its claim rolls the work back, and the request can be retried', async () => {
      const { attempt, execution, manager } = await startWork(worker, newAttempt(way));
      await manager.query(`SELECT set_config('idempotency.token', '', true)`);

      const fate = await execution.settle({ kind: 'commit', recording: RECORDING });

      expect(fate).toMatchObject({ kind: 'failed', cause: { code: 'idempotency-work-broken' } });
      await expectUndoneAndFree(attempt);
    });

    // A transaction has no row before its recording.
    if (way === BY_LEASE) {
      it('that finds no claim rolls the work back, and the request can be retried', async () => {
        const { attempt, execution } = await startWork(worker, newAttempt(way));
        await witness.query('DELETE FROM idempotency_records WHERE key = $1', [attempt.operation.key]);

        const fate = await execution.settle({ kind: 'commit', recording: RECORDING });

        expect(refusalIn(fate)).toBe('idempotency-store-unavailable');
        await expectUndoneAndFree(attempt);
      });
    }

    it('that finds another claim rolls the work back, and waits for the other', async () => {
      const { attempt, execution } = await startWork(worker, newAttempt(way));
      const successor = await startWork(other, await way.overtaking(attempt));

      const fate = await execution.settle({ kind: 'commit', recording: RECORDING });

      expect(refusalIn(fate)).toBe('idempotency-request-in-progress');
      expect(await successor.execution.settle({ kind: 'commit', recording: RECORDING })).toEqual({ kind: 'recorded' });
      await expectDone(attempt);
    });

    it('that finds the operation done rolls the work back, and gives back what is recorded', async () => {
      const { attempt, execution } = await startWork(worker, newAttempt(way));
      const successor = await startWork(other, await way.overtaking(attempt));
      await successor.execution.settle({ kind: 'commit', recording: RECORDING });

      const mine = { ...RECORDING, body: Buffer.from('mine') };
      const fate = await execution.settle({ kind: 'commit', recording: mine });

      expect(fate).toEqual({ kind: 'lost', decision: { kind: 'replay', recording: RECORDING } });
      await expectDone(attempt);
    });

    it('of a refusal is as fenced as that of a success', async () => {
      const { attempt, execution } = await startWork(worker, newAttempt(way));
      const successor = await startWork(other, await way.overtaking(attempt));
      await successor.execution.settle({ kind: 'commit', recording: RECORDING });

      const fate = await execution.settle({ kind: 'refuse', recording: { ...RECORDING, status: 422 } });

      expect(fate).toEqual({ kind: 'lost', decision: { kind: 'replay', recording: RECORDING } });
      await expectDone(attempt);
    });
  });

  describe('while a completion is committing', () => {
    it('a release waits for it, and learns that it happened', async () => {
      const { attempt, execution, claim, commit, settled } = await startCommitting(
        await startWork(worker, newAttempt(way)),
      );
      const session = await other.store.open(attempt);
      const released = session.release(claim);
      await untilWaitingForLock();

      commit.open();

      expect(await released).toBe(false);
      session.close();
      expect(await settled).toEqual({ kind: 'recorded' });
      expect(execution.isSettling).toBe(true);
      await expectDone(attempt);
    });

    it('a release waits for it, and takes the claim away when it fails', async () => {
      const { attempt, claim, commit, settled } = await startCommitting(await startWork(worker, newAttempt(way)));
      const session = await other.store.open(attempt);
      const released = session.release(claim);
      await untilWaitingForLock();

      commit.fail(new Error('the process is gone'));

      expect(await released).toBe(true);
      session.close();
      expect((await settled).kind).not.toBe('recorded');
      await expectUndoneAndFree(attempt);
    });

    it('a duplicate is told at once that it is in progress, and gets the recording afterwards', async () => {
      const { attempt, commit, settled } = await startCommitting(await startWork(worker, newAttempt(way)));

      expect(await other.executor.arrive(attempt)).toEqual({ kind: 'in_progress', leaseLeftMs: expect.any(Number) });

      commit.open();
      await settled;
      expect(await other.executor.arrive(attempt)).toEqual({ kind: 'replay', recording: RECORDING });
      await expectDone(attempt);
    });

    // A transaction has no lease that could lapse.
    if (way === BY_LEASE) {
      it('a duplicate does not take it over, also when the lease has lapsed in the meantime', async () => {
        const started = await startWork(worker, newAttempt(way));
        await lapse(started.attempt);
        const { attempt, commit, settled } = await startCommitting(started);

        expect(await other.executor.arrive(attempt)).toEqual({ kind: 'in_progress', leaseLeftMs: 0 });

        commit.open();
        expect(await settled).toEqual({ kind: 'recorded' });
        await expectDone(attempt);
      });
    }
  });
});

function startUnlucky(statementTimeoutMs: number): Promise<Worker> {
  return startWorker({ url: proxy.url, statementTimeoutMs, report: (message) => reports.push(message) });
}

interface Started {
  readonly attempt: Attempt;
  readonly claim: Claim;
  readonly execution: Execution<EntityManager>;
  readonly manager: EntityManager;
}

/** A claimed operation whose work has written its effect. */
async function startWork(on: Worker, attempt: Attempt): Promise<Started> {
  let claim: Claim | undefined;
  const executor = on.executorWith({
    keep: (lease) => {
      ({ claim } = lease);
      return on.leases.keep(lease);
    },
  });
  const arrival = await executor.arrive(attempt);
  if (arrival.kind !== 'claimed') throw new Error(`The operation is ${arrival.kind}.`);
  const { execution } = arrival;
  const manager = await execution.begin();
  await manager.query(`INSERT INTO effects VALUES ($1, 'work', 1)`, [attempt.operation.key]);
  return { attempt, claim: claim!, execution, manager };
}

/** The same once its recording is written and its COMMIT waits at a gate. */
async function startCommitting(started: Started) {
  const commit = gate();
  const settled = watching(
    async ({ statement, send }) => {
      if (statement === 'COMMIT') await commit.passed();
      return send();
    },
    () => started.execution.settle({ kind: 'commit', recording: RECORDING }),
  );
  await commit.reached;
  return { ...started, commit, settled };
}

function newAttempt({ strategy }: Way): Attempt {
  return {
    operation: { tenant: '', endpoint: 'lost answers', key: `key-${++keys}` },
    fingerprint: Buffer.alloc(33, 1),
    strategy,
    leaseMs: 60_000,
    retentionMs: 86_400_000,
  };
}

function refusalIn(fate: Fate): string | undefined {
  return fate.kind === 'lost' && fate.decision.kind !== 'replay' ? refusalOf(fate.decision).code : undefined;
}

/** One effect, and the record of it. */
async function expectDone(attempt: Attempt): Promise<void> {
  expect(await effectsOf(attempt)).toBe(1);
  expect(await rowOf(attempt)).toMatchObject({
    state: 'completed',
    response_status: 201,
    response_body: RECORDING.body,
  });
}

/** No effect, no record, and nothing that a retry would have to wait for. */
async function expectUndoneAndFree(attempt: Attempt): Promise<void> {
  expect(await effectsOf(attempt)).toBe(0);
  expect(await rowOf(attempt)).toBeUndefined();
  await expectClaimable(attempt);
}

async function expectClaimable(attempt: Attempt): Promise<void> {
  const { execution } = await startWork(other, attempt);
  expect(await execution.settle({ kind: 'commit', recording: RECORDING })).toEqual({ kind: 'recorded' });
  await expectDone(attempt);
}

async function expectInFlight({ rowInFlight }: Way, attempt: Attempt): Promise<void> {
  const row = await rowOf(attempt);
  if (rowInFlight) expect(row).toMatchObject(rowInFlight);
  else expect(row).toBeUndefined();
}

async function effectsOf({ operation }: Attempt): Promise<number> {
  const { rows } = await witness.query<{ count: number }>('SELECT count(*)::int FROM effects WHERE key = $1', [
    operation.key,
  ]);
  return rows[0]!.count;
}

async function rowOf({ operation }: Attempt): Promise<Record<string, unknown> | undefined> {
  const { rows } = await witness.query<Record<string, unknown>>(
    'SELECT *, locked_until > now() AS is_live FROM idempotency_records WHERE key = $1',
    [operation.key],
  );
  return rows[0];
}

async function lapse({ operation }: Attempt): Promise<void> {
  await witness.query(`UPDATE idempotency_records SET locked_until = now() WHERE key = $1`, [operation.key]);
}

/** Waits until somebody waits for what a transaction holds. */
function untilWaitingForLock(): Promise<void> {
  return until('somebody waits for a lock', async () => {
    const { rowCount } = await witness.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rowCount !== 0;
  });
}
