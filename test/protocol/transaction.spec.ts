import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { EntityManager } from 'typeorm';
import type { Attempt, ClaimStrategy } from '../../libs/idempotency/src/core/attempt.js';
import type { Execution, Verdict } from '../../libs/idempotency/src/core/execution.js';
import { isConflict } from '../../libs/idempotency/src/storage/postgres-errors.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { gate } from './gate.js';
import { untilQuiet } from './judge.js';
import { startProxy } from './proxy.js';
import { watching } from './statement-watch.js';
import { LEASE, REPEATABLE, SERIALIZABLE, STRATEGIES, TRANSACTION } from './strategies.js';
import { until } from './until.js';
import { createTables, startWorker, type Worker } from './worker.js';

const TRANSACTIONS = STRATEGIES.filter(([, { kind }]) => kind === 'transaction');
const STRICT = STRATEGIES.filter(([, strategy]) => strategy === REPEATABLE || strategy === SERIALIZABLE);

let database: TestDatabase;
let witness: Client;
let worker: Worker;
/** Another process of the application. */
let other: Worker;
let keys = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  await createTables(database.url);
  witness = new Client(database.url);
  await witness.connect();
  await witness.query(`CREATE TABLE doctors (name text PRIMARY KEY, is_on_call boolean NOT NULL)`);
  worker = await startWorker({ url: database.url, poolSize: 16, tickMs: 20 });
  other = await startWorker({ url: database.url });
}, 30_000);

afterAll(async () => {
  await worker?.stop();
  await other?.stop();
  await witness?.end();
  await database?.drop();
});

describe.each(TRANSACTIONS)('work that is claimed by %s', (_, strategy) => {
  it('leaves nothing when its session is ended, and its retry runs at once', async () => {
    const { attempt, execution, manager } = await startWork(worker, strategy);
    const [{ pid }] = await manager.query(`SELECT pg_backend_pid() AS pid`);
    // Resolves when the session is gone.
    await witness.query('SELECT pg_terminate_backend($1, 10000)', [pid]);

    expect(await rowOf(attempt)).toBeUndefined();
    const retry = await startWork(other, strategy, attempt);
    expect(await commit(retry)).toEqual({ kind: 'recorded' });

    expect(await commit({ attempt, execution })).toEqual(replayOf(retry));
    await expectDoneBy(retry);
  });

  it('keeps its operation for one lease when its host falls silent, and no longer', async () => {
    const proxy = await startProxy(database.url);
    const silent = await startWorker({ url: proxy.url, statementTimeoutMs: 1_000, tickMs: 20 });
    const { attempt, manager } = await startWork(silent, strategy, newAttempt(strategy, 1_500));
    const lost = proxy.lose('the last word', 'hang before');
    const unanswered = manager.query(`SELECT 'the last word'`).catch((error: unknown) => error);
    await lost;

    expect((await other.executor.arrive(attempt)).kind).toBe('in_progress');
    await untilQuiet(witness);

    const retry = await startWork(other, strategy, attempt);
    expect(await commit(retry)).toEqual({ kind: 'recorded' });
    await expectDoneBy(retry);
    await proxy.close();
    expect(await unanswered).toBeInstanceOf(Error);
    await silent.stop();
  }, 30_000);

  it('keeps its operation for longer than a lease while its worker lives, also when it has nothing to say', async () => {
    const work = await startWork(worker, strategy, newAttempt(strategy, 500));
    await until('the transaction is three leases old', async () => {
      const { rowCount } = await witness.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'worker'
            AND xact_start < clock_timestamp() - interval '1500 milliseconds'`,
      );
      return rowCount === 1;
    });
    expect((await other.executor.arrive(work.attempt)).kind).toBe('in_progress');
    expect(await commit(work)).toEqual({ kind: 'recorded' });
    await expectDoneBy(work);
  });

  it('is undone when its claim is given back without having begun', async () => {
    const attempt = newAttempt(strategy);
    const session = await worker.store.open(attempt);
    expect(await session.claim(attempt.fingerprint)).toMatchObject({ heldBy: 'transaction' });
    expect((await other.executor.arrive(attempt)).kind).toBe('in_progress');
    session.close();
    await untilQuiet(witness);
    const next = await startWork(other, strategy, attempt);
    expect(await commit(next)).toEqual({ kind: 'recorded' });
  });

  it('runs at the isolation that was asked for', async () => {
    const { manager, execution } = await startWork(worker, strategy);
    const [{ transaction_isolation: isolation }] = await manager.query('SHOW transaction_isolation');
    expect(isolation.toUpperCase()).toBe(strategy.kind === 'transaction' && strategy.isolation);
    await execution.settle({ kind: 'release' });
  });

  describe('and has been rolled back', () => {
    it('can begin again under its claim', async () => {
      const work = await startWork(worker, strategy);
      await work.execution.rollback();
      const again = { ...work, manager: await work.execution.begin() };
      await writeEffect(again, 'again');
      expect(await commit(again)).toEqual({ kind: 'recorded' });
      expect(await effectsOf(work.attempt)).toEqual(['again']);
    });

    it('does not begin again while somebody else is at work, and asks its client to come back', async () => {
      const { attempt, execution } = await startWork(worker, strategy);
      await execution.rollback();
      const successor = await startWork(other, strategy, attempt);
      await expect(execution.begin()).rejects.toMatchObject({ code: 'idempotency-store-unavailable' });
      expect(await execution.settle({ kind: 'release' })).toEqual({ kind: 'released' });
      expect(await commit(successor)).toEqual({ kind: 'recorded' });
      await expectDoneBy(successor);
    });

    it('does not begin again when somebody else has done it, and gives back what is recorded', async () => {
      const { attempt, execution } = await startWork(worker, strategy);
      await execution.rollback();
      const successor = await startWork(other, strategy, attempt);
      await commit(successor);
      await expect(execution.begin()).rejects.toMatchObject({ code: 'idempotency-store-unavailable' });
      expect(await execution.settle({ kind: 'release' })).toEqual(replayOf(successor));
      await expectDoneBy(successor);
    });

    it('records no refusal while somebody else is at work, and asks its client to come back', async () => {
      const { attempt, execution } = await startWork(worker, strategy);
      await execution.rollback();
      const successor = await startWork(other, strategy, attempt);
      expect(await execution.settle(refusal('refused'))).toMatchObject({
        kind: 'failed',
        cause: { code: 'idempotency-store-unavailable' },
      });
      expect(await commit(successor)).toEqual({ kind: 'recorded' });
      await expectDoneBy(successor);
    });

    it('records no refusal when somebody else has done it, and gives back what is recorded', async () => {
      const { attempt, execution } = await startWork(worker, strategy);
      await execution.rollback();
      const successor = await startWork(other, strategy, attempt);
      await commit(successor);
      expect(await execution.settle(refusal('refused'))).toEqual(replayOf(successor));
      await expectDoneBy(successor);
    });

    it('records its refusal, and nothing of its work', async () => {
      const { attempt, execution } = await startWork(worker, strategy);
      await execution.rollback();
      expect(await execution.settle(refusal('refused'))).toEqual({ kind: 'recorded' });
      expect(await effectsOf(attempt)).toEqual([]);
      expect(await rowOf(attempt)).toMatchObject({ state: 'completed', response_status: 422, attempts: 1 });
    });
  });
});

describe.each(TRANSACTIONS)('a claim by %s', (_, strategy) => {
  it.each([
    ['sends one statement after the other', false, 1],
    ['sends its two statements together where the driver pipelines them', true, 2],
  ])('%s', async (_, isPipelined, atOnce) => {
    const claiming = await startWorker({ url: database.url, isPipelined });
    let underWay = 0;
    let most = 0;
    const arrival = await watching(
      async ({ send }) => {
        most = Math.max(most, ++underWay);
        return send().finally(() => underWay--);
      },
      () => claiming.executor.arrive(newAttempt(strategy)),
    );
    expect([arrival.kind, most]).toEqual(['claimed', atOnce]);
    if (arrival.kind === 'claimed') await arrival.execution.settle({ kind: 'release' });
    await claiming.stop();
  });
});

/* While an endpoint changes its strategy, workers of both serve it. */
describe('where some claim by leases and others by transactions', () => {
  it.each(TRANSACTIONS)('%s leaves alone what a lease holds', async (_, strategy) => {
    const holder = await startWork(worker, LEASE);
    expect((await other.executor.arrive({ ...holder.attempt, strategy })).kind).toBe('in_progress');
    expect(await commit(holder)).toEqual({ kind: 'recorded' });
    expect(await other.executor.arrive({ ...holder.attempt, strategy })).toEqual(replayOf(holder).decision);
    await expectDoneBy(holder);
  });

  it.each(TRANSACTIONS)('%s takes over what a lease held that has lapsed', async (_, strategy) => {
    const late = await startWork(worker, LEASE);
    await lapse(late.attempt);
    const successor = await startWork(other, strategy, { ...late.attempt, strategy });
    expect(await commit(successor)).toEqual({ kind: 'recorded' });
    expect(await commit(late)).toEqual(replayOf(successor));
    await expectDoneBy(successor);
    expect(await rowOf(late.attempt)).toMatchObject({ attempts: 2, locked_until: null });
  });

  it('a lease that comes into a transaction and is recorded first is the only one', async () => {
    const overtaken = await startWork(worker, TRANSACTION);
    const winner = await startWork(other, LEASE, { ...overtaken.attempt, strategy: LEASE });
    expect(await commit(winner)).toEqual({ kind: 'recorded' });
    expect(await commit(overtaken)).toEqual(replayOf(winner));
    await expectDoneBy(winner);
  });

  it('a transaction that comes into a lapsed lease and is overtaken by its recording commits nothing', async () => {
    const late = await startWork(worker, LEASE);
    await lapse(late.attempt);
    const overtaken = await startWork(other, TRANSACTION, { ...late.attempt, strategy: TRANSACTION });
    expect(await commit(late)).toEqual({ kind: 'recorded' });
    expect(await commit(overtaken)).toEqual(replayOf(late));
    await expectDoneBy(late);
  });

  it.each(STRICT)('a lease does not come into %s', async (_, strategy) => {
    const holder = await startWork(worker, strategy);
    expect((await other.executor.arrive({ ...holder.attempt, strategy: LEASE })).kind).toBe('in_progress');
    expect(await commit(holder)).toEqual({ kind: 'recorded' });
    await expectDoneBy(holder);
  });

  it('a transaction whose recording waits for a lease that is committing is lost when that has committed', async () => {
    const overtaken = await startWork(worker, TRANSACTION);
    const winner = await startWork(other, LEASE, { ...overtaken.attempt, strategy: LEASE });
    const committing = gate();
    const won = watching(
      async ({ statement, send }) => {
        if (statement === 'COMMIT') await committing.passed();
        return send();
      },
      () => commit(winner),
    );
    await committing.reached;
    const lost = commit(overtaken);
    await untilWaitingForLock();
    committing.open();
    expect(await won).toEqual({ kind: 'recorded' });
    expect(await lost).toEqual(replayOf(winner));
    await expectDoneBy(winner);
  });
});

describe.each(STRICT)('%s', (_, strategy) => {
  it('does not run what was committed between its snapshot and its lock', async () => {
    const winner = await startWork(other, strategy);
    let isSnapshotTaken = false;
    const arrival = await watching(
      async ({ statement, client, send }) => {
        if (statement === 'BEGIN' && !isSnapshotTaken) {
          isSnapshotTaken = true;
          const { isolation } = strategy as Extract<ClaimStrategy, { kind: 'transaction' }>;
          await client.query(`START TRANSACTION ISOLATION LEVEL ${isolation}; SELECT count(*) FROM effects`);
          // Its BEGIN finds a transaction open and only warns of it.
          expect(await commit(winner)).toEqual({ kind: 'recorded' });
        }
        return send();
      },
      () => worker.executor.arrive(winner.attempt),
    );
    expect(isSnapshotTaken).toBe(true);
    expect(arrival).toEqual(replayOf(winner).decision);
    await expectDoneBy(winner);
  });

  it('gives way to another that changed the same row, is released, and its retry runs', async () => {
    await witness.query(`INSERT INTO doctors VALUES ('row ' || $1, true)`, [strategy]);
    const update = (manager: EntityManager) =>
      manager.query(`UPDATE doctors SET is_on_call = NOT is_on_call WHERE name = 'row ' || $1`, [strategy]);
    const first = await startWork(worker, strategy);
    const second = await startWork(worker, strategy);
    await update(first.manager);
    expect(await commit(first)).toEqual({ kind: 'recorded' });

    const conflict = await update(second.manager).catch((error: unknown) => error);
    expect(isConflict(conflict)).toBe(true);
    await second.execution.rollback();
    expect(await second.execution.settle({ kind: 'release' })).toEqual({ kind: 'released' });
    expect(await effectsOf(second.attempt)).toEqual([]);

    const retry = await startWork(worker, strategy, second.attempt);
    await update(retry.manager);
    expect(await commit(retry)).toEqual({ kind: 'recorded' });
    await expectDoneBy(retry);
  });

  it('does not conflict with others only because their records are neighbours', async () => {
    await witness.query('ANALYZE idempotency_records');
    const works = await Promise.all(Array.from({ length: 12 }, () => startWork(worker, strategy)));
    const fates = await Promise.all(works.map((work) => commit(work)));
    expect(fates.map(({ kind }) => kind)).toEqual(Array(12).fill('recorded'));
  });
});

describe('two doctors who each go off call because the other is on', () => {
  beforeEach(() =>
    witness.query(`INSERT INTO doctors VALUES ('Ada', true), ('Ben', true)
                     ON CONFLICT (name) DO UPDATE SET is_on_call = true`),
  );

  async function goOffCall({ manager }: Work, name: string): Promise<void> {
    const [{ count }] = await manager.query(
      `SELECT count(*)::int FROM doctors WHERE name IN ('Ada', 'Ben') AND is_on_call`,
    );
    if (count > 1) await manager.query('UPDATE doctors SET is_on_call = false WHERE name = $1', [name]);
  }

  async function onCall(): Promise<number> {
    const { rows } = await witness.query(`SELECT FROM doctors WHERE name IN ('Ada', 'Ben') AND is_on_call`);
    return rows.length;
  }

  it('are kept from it by a serializable transaction: one is told to retry, and then stays', async () => {
    const [ada, ben] = [await startWork(worker, SERIALIZABLE), await startWork(worker, SERIALIZABLE)];
    await goOffCall(ada, 'Ada');
    await goOffCall(ben, 'Ben');
    expect(await commit(ada)).toEqual({ kind: 'recorded' });

    const fate = await commit(ben);

    expect(fate.kind === 'failed' && isConflict(fate.cause)).toBe(true);
    expect(await effectsOf(ben.attempt)).toEqual([]);
    expect(await rowOf(ben.attempt)).toBeUndefined();
    const retry = await startWork(other, SERIALIZABLE, ben.attempt);
    await goOffCall(retry, 'Ben');
    expect(await commit(retry)).toEqual({ kind: 'recorded' });
    expect(await onCall()).toBe(1);
  });

  it.each([
    ['a lease', LEASE],
    ['a transaction', TRANSACTION],
    ['a repeatable transaction', REPEATABLE],
  ])('are not kept from it by %s', async (_, strategy) => {
    const [ada, ben] = [await startWork(worker, strategy), await startWork(worker, strategy)];
    await goOffCall(ada, 'Ada');
    await goOffCall(ben, 'Ben');
    expect([await commit(ada), await commit(ben)]).toEqual([{ kind: 'recorded' }, { kind: 'recorded' }]);
    expect(await onCall()).toBe(0);
  });
});

interface Work {
  readonly attempt: Attempt;
  readonly execution: Execution<EntityManager>;
  readonly manager: EntityManager;
  /** What it leaves behind, and records. */
  readonly name: string;
}

/** A claimed operation whose work has written its effect. */
async function startWork(on: Worker, strategy: ClaimStrategy, attempt = newAttempt(strategy)): Promise<Work> {
  const arrival = await on.executor.arrive(attempt);
  if (arrival.kind !== 'claimed') throw new Error(`The operation is ${arrival.kind}.`);
  const { execution } = arrival;
  const work = { attempt, execution, manager: await execution.begin(), name: `work ${++keys}` };
  await writeEffect(work, work.name);
  return work;
}

async function writeEffect({ attempt, manager }: Pick<Work, 'attempt' | 'manager'>, name: string): Promise<void> {
  await manager.query(`INSERT INTO effects VALUES ($1, $2, 1)`, [attempt.operation.key, name]);
}

function commit({ execution, name = '' }: Pick<Work, 'execution'> & Partial<Work>) {
  return execution.settle({ kind: 'commit', recording: recordingOf(name) });
}

function refusal(name: string): Verdict {
  return { kind: 'refuse', recording: { ...recordingOf(name), status: 422 } };
}

function recordingOf(name: string) {
  return { status: 201, headers: [], body: Buffer.from(name), omitted: null, resource: null };
}

/** The fate of whoever finds that the operation was done by that work. */
function replayOf({ name }: Pick<Work, 'name'>) {
  return { kind: 'lost', decision: { kind: 'replay', recording: recordingOf(name) } };
}

function newAttempt(strategy: ClaimStrategy, leaseMs = 60_000): Attempt {
  return {
    operation: { tenant: '', endpoint: 'transaction', key: `key-${++keys}` },
    fingerprint: Buffer.alloc(33, 1),
    strategy,
    leaseMs,
    retentionMs: 86_400_000,
  };
}

/** Its effect and its recording, and nobody else's. */
async function expectDoneBy({ attempt, name }: Pick<Work, 'attempt' | 'name'>): Promise<void> {
  expect(await effectsOf(attempt)).toEqual([name]);
  expect(await rowOf(attempt)).toMatchObject({ state: 'completed', response_body: Buffer.from(name) });
}

async function effectsOf({ operation }: Attempt): Promise<string[]> {
  const { rows } = await witness.query<{ execution: string }>('SELECT execution FROM effects WHERE key = $1', [
    operation.key,
  ]);
  return rows.map(({ execution }) => execution);
}

async function rowOf({ operation }: Attempt): Promise<Record<string, unknown> | undefined> {
  const { rows } = await witness.query<Record<string, unknown>>('SELECT * FROM idempotency_records WHERE key = $1', [
    operation.key,
  ]);
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
