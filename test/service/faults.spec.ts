import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { IdempotentOperation } from 'nestjs-idempotency';
import type { EntityManager } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { DatabaseProxy, isQuery } from '../faults/database-proxy.js';
import { eventually, gate } from '../module/gate.js';
import { pay, prepareDatabase } from '../module/work-app.js';
import { Witness } from '../module/witness.js';
import { failing, message, paying, recordOf, request, type ServiceApp, startServiceApp } from './service-app.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let witness: Witness;
let proxy: DatabaseProxy;
/** Reaches its database through the proxy. */
let app: ServiceApp;
let other: ServiceApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  witness = await Witness.of(database.url);
  proxy = await DatabaseProxy.to(database.url);
  const idempotency = { acquireTimeoutMs: 2_000, statementTimeoutMs: 2_000 };
  app = await startServiceApp({ url: proxy.url, typeorm: { poolSize: 3 }, idempotency });
  other = await startServiceApp({ url: database.url });
});

afterEach(async () => {
  await proxy.heal();
  await eventually('every connection is back in the pool', () => app.isPoolAtRest());
});

afterAll(async () => {
  await app?.stop();
  await other?.stop();
  await proxy?.close();
  await witness?.close();
  await database?.drop();
});

const code = (name: string) => expect.objectContaining({ name: 'IdempotencyError', code: `idempotency-${name}` });

const giveWay = (manager: EntityManager, state: string) =>
  manager.query(`DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '${state}'; END $$`);

/** Work that has to give way the first few times. */
function yielding(times: number, state = '40001') {
  const seen = { runs: 0 };
  const work = async ({ manager, key }: IdempotentOperation) => {
    seen.runs++;
    await pay(manager, key, `run ${seen.runs}`);
    if (seen.runs <= times) await giveWay(manager, state);
    return seen.runs;
  };
  return Object.assign(work, { seen });
}

/** Work that pays, and stands inside until it is told to go on. */
function held(label = 'held') {
  const [entered, go] = [gate(), gate()];
  const work = async ({ manager, key, signal }: IdempotentOperation) => {
    await pay(manager, key, label);
    entered.open();
    await go.passed;
    return { label, wasLost: signal.aborted };
  };
  return { work, entered, go };
}

describe.each([
  ['a serialization failure', '40001'],
  ['a deadlock', '40P01'],
])('%s', (_, state) => {
  it('is run again as often as the operation allows, and what it wrote before is undone', async () => {
    const asked = request({ conflictRetries: 2 });
    const work = yielding(2, state);
    expect(await app.service.run(asked, work)).toEqual({ kind: 'executed', value: 3 });
    expect([work.seen.runs, await witness.payments(asked.key)]).toEqual([3, ['run 3']]);
  });

  it.each([
    ['more often than is allowed', { conflictRetries: 1 }, 2],
    ['where none is allowed', {}, 1],
  ])('%s is undone, said so, and may be tried again', async (_, own, runs) => {
    const asked = request(own);
    const work = yielding(9, state);
    await expect(app.service.run(asked, work)).rejects.toEqual(code('work-conflict'));
    expect([work.seen.runs, await witness.payments(asked.key), await recordOf(witness, asked.key)]).toEqual([
      runs,
      [],
      undefined,
    ]);
    expect((await app.service.run(asked, paying())).kind).toBe('executed');
  });

  it('of the work of a message brings it back, and counts once, however often it was run', async () => {
    const delivered = message({ conflictRetries: 1, maxTries: 2 });
    expect(await app.service.consume(delivered, yielding(9, state))).toMatchObject({
      kind: 'retry',
      error: code('work-conflict'),
    });
    expect(await recordOf(witness, delivered.key)).toMatchObject({ attempts: 1 });
  });

  it("is run again under `claim: 'transaction'` too", async () => {
    const asked = request({ conflictRetries: 2, claim: 'transaction', isolation: 'SERIALIZABLE' });
    expect(await app.service.run(asked, yielding(2, state))).toEqual({ kind: 'executed', value: 3 });
    expect(await witness.payments(asked.key)).toEqual(['run 3']);
  });
});

describe('code that an undone run has left behind', () => {
  it('does not reach into the run after it', async () => {
    const asked = request({ conflictRetries: 1 });
    const again = gate();
    let stray: Promise<unknown> | undefined;
    let runs = 0;
    await app.service.run(asked, async ({ manager, key }) => {
      if (++runs === 1) {
        stray = again.passed.then(() => pay(manager, key, 'stray'));
        stray.catch(() => undefined);
        await giveWay(manager, '40001');
      }
      again.open();
      await expect(stray).rejects.toThrow(Error);
      await pay(manager, key, 'paid');
    });
    expect([runs, await witness.payments(asked.key)]).toEqual([2, ['paid']]);
  });
});

describe('an operation that was taken over while its work ran', () => {
  const takeOver = (key: string) =>
    witness.rows(
      `UPDATE idempotency_records SET locked_until = now() - interval '1 hour', token = gen_random_uuid() WHERE key = $1`,
      key,
    );

  it('is undone, and given the value of the winner', async () => {
    const asked = request();
    const loser = held('loser');
    const first = app.service.run(asked, loser.work);
    await loser.entered.passed;
    await takeOver(asked.key);
    const winner = await other.service.run(asked, paying('winner'));
    loser.go.open();
    expect(await first).toEqual({ kind: 'replayed', value: winner.value });
    expect(await witness.payments(asked.key)).toEqual(['winner']);
  });

  it('is given the value of the winner also where its work fails', async () => {
    const asked = request();
    const [entered, go] = [gate(), gate()];
    const first = app.service.run(asked, async (): Promise<unknown> => {
      entered.open();
      await go.passed;
      throw new Error('The loser failed.');
    });
    await entered.passed;
    await takeOver(asked.key);
    const winner = await other.service.run(asked, paying('winner'));
    go.open();
    expect(await first).toEqual({ kind: 'replayed', value: winner.value });
  });

  it('is told that its value was not kept, where the winner has left none', async () => {
    const asked = request();
    const loser = held('loser');
    const first = app.service.run(asked, loser.work);
    await loser.entered.passed;
    await takeOver(asked.key);
    await other.service.run(asked, () => 'x'.repeat(2 << 20));
    loser.go.open();
    await expect(first).rejects.toEqual(code('response-unavailable'));
    expect(await witness.payments(asked.key)).toEqual([]);
  });

  it('is refused while the winner is at work; a message of it comes again', async () => {
    const delivered = message();
    const [loser, winner] = [held('loser'), held('winner')];
    const first = app.service.consume(delivered, loser.work);
    await loser.entered.passed;
    await takeOver(delivered.key);
    const second = other.service.consume(delivered, winner.work);
    await winner.entered.passed;
    loser.go.open();
    expect(await first).toMatchObject({ kind: 'retry', error: code('request-in-progress') });
    winner.go.open();
    expect(await second).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await witness.payments(delivered.key)).toEqual(['winner']);
  });

  it('has its signal aborted', async () => {
    const quick = await startServiceApp({ url: database.url, idempotency: { leaseMs: 3_000 } });
    try {
      const asked = request();
      const entered = gate();
      const first = quick.service.run(asked, async ({ signal }) => {
        entered.open();
        await eventually('the signal is aborted', () => signal.aborted);
        throw signal.reason;
      });
      await entered.passed;
      await witness.rows('UPDATE idempotency_records SET token = gen_random_uuid() WHERE key = $1', asked.key);
      await expect(first).rejects.toEqual(code('request-in-progress'));
    } finally {
      await quick.stop();
    }
  });
});

describe('a lease', () => {
  it('is renewed for as long as its work lives', async () => {
    const quick = await startServiceApp({ url: database.url, idempotency: { leaseMs: 1_500 } });
    const asked = request();
    const { work, entered, go } = held();
    const first = quick.service.run(asked, work);
    try {
      await entered.passed;
      await eventually('it has been renewed since it would have run out', async () => {
        const rows = await witness.rows(
          `SELECT FROM idempotency_records WHERE key = $1 AND locked_until > locked_at + interval '3 s'`,
          asked.key,
        );
        return rows.length > 0;
      });
      go.open();
      expect(await first).toEqual({ kind: 'executed', value: { label: 'held', wasLost: false } });
    } finally {
      go.open();
      await quick.stop();
    }
  });
});

describe('a store that is away', () => {
  it('has operations refused and messages come again, and runs no work', async () => {
    const [asked, delivered] = [request(), message()];
    const work = paying();
    await proxy.refuse();
    await expect(app.service.run(asked, work)).rejects.toEqual(code('store-unavailable'));
    expect(await app.service.consume(delivered, work)).toMatchObject({
      kind: 'retry',
      afterMs: 1_000,
      error: code('store-unavailable'),
    });
    expect(work.seen.runs).toBe(0);
    await proxy.heal();
    expect(await app.service.run(asked, work)).toMatchObject({ kind: 'executed', value: { attempts: 1 } });
    expect(await app.service.consume(delivered, work)).toMatchObject({ outcome: { value: { attempts: 1 } } });
  });

  it('when the work runs leaves nothing of it', async () => {
    const asked = request();
    const { work, entered, go } = held();
    const first = app.service.run(asked, work);
    await entered.passed;
    proxy.cut();
    go.open();
    await expect(first).rejects.toEqual(code('store-unavailable'));
    expect(await witness.payments(asked.key)).toEqual([]);
    await eventually('the operation is free', async () => {
      const tried = await app.service.run(asked, paying('again')).catch(() => null);
      return tried?.kind === 'executed';
    });
    expect(await witness.payments(asked.key)).toEqual(['again']);
  });

  it('when the work fails leaves nothing of it, and what it threw is thrown', async () => {
    const asked = request();
    const error = new Error('no funds');
    await expect(
      app.service.run(asked, async (operation) => {
        await pay(operation.manager, asked.key, 'undone');
        await proxy.refuse();
        throw error;
      }),
    ).rejects.toBe(error);
    expect(await witness.payments(asked.key)).toEqual([]);
  });

  it.each<[what: string, own: object]>([
    ['under a lease', {}],
    ["under `claim: 'transaction'`", { claim: 'transaction' }],
  ])('when its answer to the COMMIT was lost, %s, is asked what has become of it', async (_, own) => {
    const asked = request(own);
    proxy.intercept = (chunk) => (isQuery(chunk, 'COMMIT') ? 'pass and cut' : 'pass');
    expect(await app.service.run(asked, paying())).toEqual({
      kind: 'executed',
      value: { label: 'paid', attempts: 1 },
    });
    expect(await witness.payments(asked.key)).toEqual(['paid']);
  });

  it('when it never got the COMMIT leaves nothing, and says that it was away', async () => {
    const delivered = message({ maxTries: 1 });
    proxy.intercept = (chunk) => (isQuery(chunk, 'COMMIT') ? 'cut' : 'pass');
    expect(await app.service.consume(delivered, paying())).toMatchObject({
      kind: 'retry',
      error: code('store-unavailable'),
    });
    proxy.intercept = () => 'pass';
    expect(await witness.payments(delivered.key)).toEqual([]);
    expect(await app.service.consume(delivered, paying())).toMatchObject({ outcome: { kind: 'executed' } });
  });
});

describe('a message whose claim was answered in vain', () => {
  it('is not parked for that, but handled when it comes again', async () => {
    const delivered = message({ maxTries: 1 });
    let isFirst = true;
    proxy.intercept = (chunk) => {
      if (!isFirst || !chunk.includes(delivered.key)) return 'pass';
      isFirst = false;
      return 'pass and cut';
    };
    const work = paying();
    expect(await app.service.consume(delivered, work)).toMatchObject({
      kind: 'retry',
      error: code('store-unavailable'),
    });
    await eventually('the claim is released', async () => !(await recordOf(witness, delivered.key))?.is_live);
    const again = await app.service.consume(delivered, work);
    expect(again).toMatchObject({ outcome: { kind: 'executed', value: { attempts: 1 } } });
    expect(work.seen.runs).toBe(1);
  });
});

describe('work that only the COMMIT finds wrong', () => {
  it('is undone, and rejects with what the database said', async () => {
    const asked = request();
    const rejected = app.service.run(asked, async ({ manager, key }) => {
      await pay(manager, key, 'undone');
      await manager.query('INSERT INTO refunds (payment) VALUES (-1)');
    });
    await expect(rejected).rejects.toMatchObject({ code: '23503' });
    expect([await witness.payments(asked.key), await recordOf(witness, asked.key)]).toEqual([[], undefined]);
  });
});

describe('an application that shuts down', () => {
  it('lets work under way finish, and takes no more', async () => {
    const closing = await startServiceApp({ url: database.url, typeorm: { applicationName: 'closing' } });
    const [asked, delivered, patient] = [request(), message(), request({ patience: '30s' })];
    const { work, entered, go } = held();
    const elsewhere = held();
    const first = closing.service.run(asked, work);
    const winner = other.service.run(patient, elsewhere.work);
    await Promise.all([entered.passed, elsewhere.entered.passed]);
    const waiting = closing.service.run(patient, paying()).catch((error: unknown) => error);
    await eventually('the patient one has looked and waits', async () => {
      const looked = await witness.rows(
        `SELECT FROM pg_stat_activity WHERE application_name = 'closing' AND state = 'idle' AND query LIKE '%lease_left_ms%'`,
      );
      return looked.length > 0;
    });
    let isStopped = false;
    const stopped = closing.stop().then(() => (isStopped = true));

    const refused = paying();
    await eventually('nothing new is taken', async () => {
      const tried = await closing.service.run(request(), () => 1).catch((error: unknown) => error);
      return (tried as { code?: string }).code === 'idempotency-shutting-down';
    });
    expect(await closing.service.consumeAll([delivered, message()], (_, operation) => refused(operation))).toEqual([
      { kind: 'retry', afterMs: 1_000, error: code('shutting-down') },
      { kind: 'retry', afterMs: 1_000, error: code('shutting-down') },
    ]);
    expect(await waiting).toEqual(code('shutting-down'));
    expect([isStopped, refused.seen.runs]).toEqual([false, 0]);

    go.open();
    expect(await first).toMatchObject({ kind: 'executed' });
    await stopped;
    expect(await witness.payments(asked.key)).toEqual(['held']);
    await expect(closing.service.run(request({ key: randomUUID() }), refused)).rejects.toEqual(code('shutting-down'));
    elsewhere.go.open();
    await winner;
    expect(await other.service.consume(delivered, failing())).toMatchObject({ kind: 'retry' });
    expect(await recordOf(witness, delivered.key)).toMatchObject({ attempts: 1 });
  });
});
