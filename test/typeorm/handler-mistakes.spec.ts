import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { EntityManager } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually, gate } from '../module/gate.js';
import { Payment } from '../module/payment.entity.js';
import { pay, prepareDatabase, startWorkApp, type Work, type WorkApp } from '../module/work-app.js';

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
});

afterEach(async () => {
  await Promise.allSettled(forgotten);
  forgotten = [];
});

afterAll(async () => {
  await app?.stop();
  await database?.drop();
});

/** Starts something the handler does not wait for. */
function forget(started: Promise<unknown>): void {
  started.catch(() => undefined);
  forgotten.push(started);
}

const arrive = (manager: EntityManager): Promise<unknown> => manager.query(`SELECT nextval('arrivals')`);

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

describe('a nested transaction that nobody waits for', () => {
  it('undoes everything when it is still open as the handler returns', async () => {
    const hold = gate();
    await expectUndone(async (manager, run) => {
      await pay(manager, run, 'outer');
      const inside = gate();
      forget(
        manager.transaction(async (nested) => {
          await pay(nested, run, 'nested');
          inside.open();
          await hold.passed;
        }),
      );
      await inside.passed;
      setImmediate(() => hold.open());
    });
  });

  it('undoes everything when its savepoint is under way as the handler returns', async () => {
    await expectUndone(async (manager, run) => {
      await pay(manager, run, 'outer');
      const arrived = gate();
      forget(manager.transaction(async (nested) => pay(nested, run, 'nested')));
      // The savepoint is handed over a few turns later; wait for as long as that takes and no longer.
      const { queryRunner } = manager;
      const { client } = { client: (await queryRunner!.connect()) as { query: (...args: unknown[]) => unknown } };
      const { query } = client;
      client.query = (...args) => {
        if (String(args[0]).startsWith('SAVEPOINT')) arrived.open();
        return Reflect.apply(query, client, args);
      };
      await arrived.passed;
      client.query = query;
    });
  });

  it('never begins when it is opened in the very turn in which the handler returns', async () => {
    const key = randomUUID();
    const { status } = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'outer');
      forget(manager.transaction(async (nested) => pay(nested, run, 'nested')));
    }, key);
    await Promise.allSettled(forgotten);
    // Whether it was still refused or already open is a matter of turns; never is a part of it kept.
    expect(await app.witness.payments(key)).toEqual(status === 201 ? ['outer'] : []);
  });

  it('undoes everything when it fails after the handler has returned', async () => {
    const hold = gate();
    await expectUndone(async (manager, run) => {
      const inside = gate();
      forget(
        manager.transaction(async (nested) => {
          await pay(nested, run, 'nested');
          inside.open();
          await hold.passed;
          throw new Error('too late to matter');
        }),
      );
      await inside.passed;
      await pay(manager, run, 'outer');
      setImmediate(() => hold.open());
    });
  });
});

describe('queries in flight', () => {
  it('keeps nothing of a Promise.all in which one of them fails, and lets nothing arrive afterwards', async () => {
    const before = await app.witness.arrivals();
    await expectUndone(async (manager, run) => {
      await arrive(manager);
      const follow = async (label: string): Promise<void> => {
        await pay(manager, run, label);
        await arrive(manager);
      };
      const parts = [
        follow('first'),
        manager.query('INSERT INTO payments (run, label, amount) VALUES ($1, $2, 0)', [run, 'refused']),
        follow('second'),
        follow('third'),
      ];
      parts.forEach(forget);
      await Promise.all(parts);
    });
    // Of the first part the sequence may have been reached before the failure; nothing after it.
    const arrived = (await app.witness.arrivals()) - before;
    expect(arrived).toBeGreaterThanOrEqual(1);
    expect(arrived).toBeLessThanOrEqual(2);
  });

  it('commits a query that was sent but not awaited, together with the answer', async () => {
    const key = randomUUID();
    const { status } = await app.attempt((manager, run) => {
      forget(pay(manager, run, 'sent'));
      return { paid: true };
    }, key);
    expect(status).toBe(201);
    expect(await app.witness.payments(key)).toEqual(['sent']);
  });

  it('undoes everything when a query that was sent but not awaited fails', async () => {
    await expectUndone(async (manager, run) => {
      await pay(manager, run, 'good');
      forget(manager.query('INSERT INTO payments (run, label, amount) VALUES ($1, $2, 0)', [run, 'refused']));
    });
  });
});

describe('a swallowed database error', () => {
  it('undoes everything, answers 500 and frees the key', async () => {
    await expectUndone(async (manager, run) => {
      await pay(manager, run, 'before');
      await manager.query('SELECT 1 / 0').catch(() => undefined);
      return { paid: true };
    });
  });

  it('undoes everything also when later queries failed for it', async () => {
    await expectUndone(async (manager, run) => {
      await pay(manager, run, 'before');
      await manager.query('SELECT 1 / 0').catch(() => undefined);
      await pay(manager, run, 'after').catch(() => undefined);
      await manager.transaction(async (nested) => pay(nested, run, 'nested')).catch(() => undefined);
      return { paid: true };
    });
  });

  it('undoes everything when a constraint is only found broken by the COMMIT', async () => {
    await expectUndone(async (manager, run) => {
      await pay(manager, run, 'refunded');
      await manager.query('INSERT INTO refunds (payment) VALUES (-1)');
    });
  });
});

describe('an end of the transaction that the handler asks for', () => {
  const texts = [
    'COMMIT',
    'commit',
    'COMMIT WORK',
    'COMMIT AND CHAIN',
    'END',
    'end transaction',
    'ROLLBACK',
    'rollback work',
    'ROLLBACK AND CHAIN',
    'ABORT',
    `PREPARE TRANSACTION 'mine'`,
    'BEGIN',
    'START TRANSACTION',
    ' \t\r\n COMMIT ; ',
    ';COMMIT',
    ';;;\nCOMMIT',
    '-- the end\nCOMMIT',
    '/* the end */ COMMIT',
    '/* one *//* two */-- three\n/* four */commit',
    'SELECT 1; COMMIT',
    `SELECT ';'; COMMIT; SELECT ';'`,
    `SELECT $$;$$; COMMIT; SELECT $x$;$x$`,
    `SELECT '''; SELECT '; COMMIT`,
    'SELECT 1 AS "a""; b"; COMMIT',
    `SELECT 1 /* it's */; COMMIT; SELECT 'done'`,
    `SELECT 1 -- it's\n; COMMIT`,
    `SELECT E'\\''; COMMIT; SELECT '1'`,
    '/* /* nested */ */ COMMIT',
    'SELECT 1 AS a$b$; COMMIT; SELECT 1 AS c$b$',
    `SELECT $é$'$é$; COMMIT; SELECT $é$'$é$`,
  ];

  it.each(texts)('undoes everything when it is sent as %j', async (text) => {
    await expectUndone(async (manager, run) => {
      await pay(manager, run, 'before');
      await manager.query(text);
      await pay(manager, run, 'after');
    });
  });

  it.each(texts)('undoes everything when the refusal of %j is swallowed', async (text) => {
    await expectUndone(async (manager, run) => {
      await pay(manager, run, 'before');
      await manager.query(text).catch(() => undefined);
      await pay(manager, run, 'after').catch(() => undefined);
      return { paid: true };
    });
  });

  it('undoes everything when it stands in a DO block', async () => {
    await expectUndone(async (manager, run) => {
      await pay(manager, run, 'before');
      await manager.query('DO $$ BEGIN COMMIT; END $$').catch(() => undefined);
      return { paid: true };
    });
  });

  it('undoes everything when it stands in a procedure', async () => {
    await expectUndone(async (manager, run) => {
      await pay(manager, run, 'before');
      await manager.query(`CREATE PROCEDURE finish() LANGUAGE plpgsql AS 'BEGIN COMMIT; END'`);
      await manager.query('CALL finish()').catch(() => undefined);
      return { paid: true };
    });
  });

  it.each(['commitTransaction', 'rollbackTransaction', 'startTransaction'] as const)(
    'undoes everything after queryRunner.%s()',
    async (method) => {
      await expectUndone(async (manager, run) => {
        await pay(manager, run, 'before');
        await manager.queryRunner![method]().catch(() => undefined);
        await pay(manager, run, 'after').catch(() => undefined);
        return { paid: true };
      });
    },
  );

  it('lets text pass that only looks like one', async () => {
    const key = randomUUID();
    const { status } = await app.attempt(async (manager, run) => {
      await manager.query(`SELECT 'x; COMMIT' AS "; ROLLBACK" /* ; COMMIT */ -- ; COMMIT`);
      await manager.query(`SELECT $$; COMMIT; $$, $a$; END; $$ $a$, 'it''s; ABORT'`);
      await manager.query('DO $$ BEGIN PERFORM 1; END $$');
      await manager.query('SELECT CASE WHEN true THEN 1 END');
      await manager.query('SAVEPOINT mine; ROLLBACK TO mine; ROLLBACK WORK TO SAVEPOINT mine; RELEASE mine');
      await pay(manager, run, 'kept');
    }, key);
    expect(status).toBe(201);
    expect(await app.witness.payments(key)).toEqual(['kept']);
  });
});

describe('a query after the handler has returned', () => {
  /** Has `queries` made by a continuation that nobody waits for, after the answer is out. */
  async function lateAfter(end: 'return' | 'throw'): Promise<{ key: string; status: number }> {
    const key = randomUUID();
    const hold = gate();
    const refusals: unknown[] = [];
    const { status } = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'in time');
      const repository = manager.getRepository(Payment);
      const late = async (): Promise<void> => {
        await hold.passed;
        const attempts = [
          () => arrive(manager),
          () => pay(manager, run, 'late'),
          () => manager.queryRunner!.query(`SELECT nextval('arrivals')`),
          () => repository.save({ run, label: 'late' }),
          () => manager.insert(Payment, { run, label: 'late' }),
          () => manager.createQueryBuilder().insert().into(Payment).values({ run, label: 'late' }).execute(),
          () => manager.transaction(async (nested) => arrive(nested)),
          () => manager.query('COMMIT'),
          () => manager.queryRunner!.commitTransaction(),
          () => manager.queryRunner!.startTransaction(),
        ];
        for (const attempt of attempts) await attempt().catch((error: unknown) => refusals.push(error));
        expect(refusals).toHaveLength(attempts.length);
      };
      forget(late());
      if (end === 'throw') throw new Error('the handler failed');
      return { paid: true };
    }, key);
    // The next request works on the same connection while the late queries are made.
    const before = await app.witness.arrivals();
    const other = randomUUID();
    const next = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'next');
      hold.open();
      await Promise.allSettled(forgotten);
    }, other);
    expect([next.status, await app.witness.payments(other)]).toEqual([201, ['next']]);
    expect(await app.witness.arrivals()).toBe(before);
    const results = await Promise.allSettled(forgotten);
    expect(results.map(({ status: outcome }) => outcome)).toEqual(['fulfilled']);
    return { key, status };
  }

  it('is refused after the commit, also while the next request works on the same connection', async () => {
    const { key, status } = await lateAfter('return');
    expect(status).toBe(201);
    expect(await app.witness.payments(key)).toEqual(['in time']);
  });

  it('is refused after the rollback, also while the next request works on the same connection', async () => {
    const { key, status } = await lateAfter('throw');
    expect(status).toBe(500);
    expect(await app.witness.payments(key)).toEqual([]);
  });
});
