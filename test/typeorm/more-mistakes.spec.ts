import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Client } from 'pg';
import type { EntityManager } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually, gate } from '../module/gate.js';
import { pay, poolOf, prepareDatabase, startWorkApp, type Work, type WorkApp } from '../module/work-app.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let app: WorkApp;
/** The promises that a handler did not wait for, so that the test can. */
let forgotten: Promise<unknown>[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  // One connection: whatever a request leaves behind on it meets the next request.
  app = await startWorkApp({ url: database.url, typeorm: { poolSize: 1 } });
}, 60_000);

afterEach(async () => {
  await Promise.allSettled(forgotten);
  forgotten = [];
});

afterAll(async () => {
  await app?.stop();
  await database?.drop();
}, 60_000);

/** Starts something the handler does not wait for. */
function forget(started: Promise<unknown>): void {
  started.catch(() => undefined);
  forgotten.push(started);
}

/** Nothing of the key is left: no payment, and its retry runs at once, commits and is answered as a first execution. */
async function expectNoTrace(key: string): Promise<void> {
  await Promise.allSettled(forgotten);
  await eventually('the pool is at rest', () => app.isPoolAtRest());
  expect(await app.witness.payments(key)).toEqual([]);
  const retry = await app.attempt(async (manager, run) => pay(manager, run, 'retried'), key);
  expect([retry.status, retry.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
  expect(await app.witness.payments(key)).toEqual(['retried']);
}

async function expectUndone(work: Work): Promise<void> {
  const key = randomUUID();
  const { status } = await app.attempt(work, key);
  expect(status).toBe(500);
  await expectNoTrace(key);
}

describe('a query after the handler has returned', () => {
  it('does not keep the half that was sent in time of a continuation that nobody waits for', async () => {
    const key = randomUUID();
    const { status } = await app.attempt((manager, run) => {
      const both = async (): Promise<void> => {
        await pay(manager, run, 'debit');
        await pay(manager, run, 'credit');
      };
      forget(both());
      return { paid: true };
    }, key);
    await Promise.allSettled(forgotten);
    expect([status, await app.witness.payments(key)]).toEqual([500, []]);
  });
});

describe('an end of the transaction that the handler asks for', () => {
  it.each(['COMMIT', 'ROLLBACK'])('undoes everything when it is a %s on the connection of the driver', async (end) => {
    await expectUndone(async (manager, run) => {
      await pay(manager, run, 'before');
      const client = (await manager.queryRunner!.connect()) as Client;
      await client.query(end).catch(() => undefined);
      await client.query({ text: end }).catch(() => undefined);
      await pay(manager, run, 'after');
    });
  });

  it('undoes everything when it follows a comment that a carriage return ends', async () => {
    await expectUndone(async (manager, run) => {
      await pay(manager, run, 'before');
      await manager.query('-- the end\rCOMMIT');
      await pay(manager, run, 'after');
    });
  });
});

describe('nested transactions', () => {
  it.each([0, 1, 2, 3])(
    'keep what the answer says was kept when two overlap, the second %i turns later, and one of them fails',
    async (turns) => {
      const key = randomUUID();
      const { status, body } = await app.attempt(async (manager, run) => {
        const first = manager.transaction(async (nested) => {
          await pay(nested, run, 'first');
          for (let turn = 0; turn < turns; turn++) await nested.query('SELECT 1');
        });
        const settled = first.then(
          () => true,
          () => false,
        );
        for (let turn = 0; turn < turns; turn++) await manager.query('SELECT 1');
        const second = manager.transaction(async (nested) => {
          await pay(nested, run, 'second');
          await settled;
          throw new Error('this part fails');
        });
        await second.catch(() => undefined);
        return { kept: (await settled) ? ['first'] : [] };
      }, key);
      const payments = await app.witness.payments(key);
      expect(payments).toEqual(status === 201 ? (JSON.parse(body) as { kept: string[] }).kept : []);
    },
  );
});

describe('a connection that the handler gives away', () => {
  it.each([
    ['queryRunner.release()', (manager: EntityManager) => manager.queryRunner!.release()],
    ['manager.release()', (manager: EntityManager) => manager.release()],
  ])("stays the work's own after %s: the next request is not drawn into its transaction", async (_, giveAway) => {
    const [key, other] = [randomUUID(), randomUUID()];
    const [given, goOn, finish] = [gate(), gate(), gate()];
    const first = app.attempt(async (manager, run) => {
      await pay(manager, run, 'before');
      await giveAway(manager).catch(() => undefined);
      given.open();
      await goOn.passed;
      return { paid: true };
    }, key);
    await given.passed;
    let isInside = false;
    const second = app.attempt(async (manager, run) => {
      isInside = true;
      await finish.passed;
      return pay(manager, run, 'other');
    }, other);
    await eventually('the second request has a connection or waits for one', () => {
      return isInside || poolOf(app.dataSource).waitingCount > 0;
    });
    goOn.open();
    const answers = [await first];
    finish.open();
    answers.push(await second);
    const committed = [await app.witness.payments(key), await app.witness.payments(other)];
    expect(committed[0]).toEqual(answers[0]!.status === 201 ? ['before'] : []);
    expect([answers[1]!.status, committed[1]]).toEqual([201, ['other']]);
  });
});
