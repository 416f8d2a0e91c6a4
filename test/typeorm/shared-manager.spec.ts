import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type EntityManager, type EntitySubscriberInterface, EventSubscriber, Repository } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from '../module/gate.js';
import { Payment } from '../module/payment.entity.js';
import { pay, prepareDatabase, startWorkApp, type Work, type WorkApp } from '../module/work-app.js';

jest.setTimeout(60_000);

/** What the application's subscribers do, set by each test. */
let subscriber: Partial<EntitySubscriberInterface> = {};

@EventSubscriber()
class Subscriber implements EntitySubscriberInterface {
  beforeTransactionCommit(...args: Parameters<NonNullable<EntitySubscriberInterface['beforeTransactionCommit']>>) {
    return subscriber.beforeTransactionCommit?.(...args);
  }
  afterTransactionCommit(...args: Parameters<NonNullable<EntitySubscriberInterface['afterTransactionCommit']>>) {
    return subscriber.afterTransactionCommit?.(...args);
  }
  afterTransactionStart(...args: Parameters<NonNullable<EntitySubscriberInterface['afterTransactionStart']>>) {
    return subscriber.afterTransactionStart?.(...args);
  }
  afterInsert(...args: Parameters<NonNullable<EntitySubscriberInterface['afterInsert']>>) {
    return subscriber.afterInsert?.(...args);
  }
}

let database: TestDatabase;
let app: WorkApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  app = await startWorkApp({ url: database.url, typeorm: { poolSize: 2, subscribers: [Subscriber] } });
});

afterEach(() => {
  subscriber = {};
});

afterAll(async () => {
  await app?.stop();
  await database?.drop();
});

async function outcomeOf(work: Work): Promise<{ status: number; payments: string[]; body: string; key: string }> {
  const key = randomUUID();
  const { status, body } = await app.attempt(work, key);
  return { status, payments: await app.witness.payments(key), body, key };
}

function fail(): Promise<never> {
  return Promise.reject(new Error('this part fails'));
}

describe('nested transactions', () => {
  it('commit with the work when they are awaited', async () => {
    const { status, payments } = await outcomeOf(async (manager, run) => {
      await pay(manager, run, 'outer');
      await manager.transaction(async (nested) => {
        await pay(nested, run, 'nested');
        await nested.transaction(async (deeper) => pay(deeper, run, 'deeper'));
      });
      await pay(manager, run, 'then');
    });
    expect([status, payments]).toEqual([201, ['deeper', 'nested', 'outer', 'then']]);
  });

  it('roll back alone when one fails and its error is caught', async () => {
    const { status, payments } = await outcomeOf(async (manager, run) => {
      await pay(manager, run, 'outer');
      await manager
        .transaction(async (nested) => {
          await pay(nested, run, 'undone');
          await nested.transaction(async (deeper) => pay(deeper, run, 'undone too'));
          await fail();
        })
        .catch(() => undefined);
      await manager.transaction(async (nested) => {
        await pay(nested, run, 'kept');
        await nested
          .transaction(async (deeper) => {
            await pay(deeper, run, 'undone');
            await deeper.query('SELECT 1 / 0');
          })
          .catch(() => undefined);
      });
    });
    expect([status, payments]).toEqual([201, ['kept', 'outer']]);
  });

  it('undo everything when one fails and nobody catches it', async () => {
    const { status, payments } = await outcomeOf(async (manager, run) => {
      await pay(manager, run, 'outer');
      await manager.transaction(async (nested) => {
        await pay(nested, run, 'nested');
        await fail();
      });
    });
    expect([status, payments]).toEqual([500, []]);
  });

  it('accept an isolation level, although a savepoint cannot have one', async () => {
    const { status, payments } = await outcomeOf((manager, run) =>
      manager.transaction('SERIALIZABLE', async (nested) => pay(nested, run, 'nested')),
    );
    expect([status, payments]).toEqual([201, ['nested']]);
  });

  it('keep nothing when they are opened at the same time and one of them fails', async () => {
    const { status, payments } = await outcomeOf(async (manager, run) => {
      await pay(manager, run, 'outer');
      await Promise.all([
        manager.transaction(async (nested) => pay(nested, run, 'first')),
        manager.transaction(async (nested) => pay(nested, run, 'second').then(fail)),
      ]);
    });
    expect([status, payments]).toEqual([500, []]);
  });
});

describe('everything TypeORM writes with', () => {
  class PaymentRepository extends Repository<Payment> {
    pay(run: string, label: string): Promise<Payment> {
      return this.save({ run, label });
    }
  }

  const ways: [string, (manager: EntityManager, run: string) => Promise<unknown>][] = [
    ['manager.save', (manager, run) => manager.save(Payment, { run, label: 'paid' })],
    ['manager.insert', (manager, run) => manager.insert(Payment, { run, label: 'paid' })],
    ['manager.upsert', (manager, run) => manager.upsert(Payment, { run, label: 'paid' }, ['run', 'label'])],
    ['getRepository().save', (manager, run) => manager.getRepository(Payment).save({ run, label: 'paid' })],
    ['getRepository().insert', (manager, run) => manager.getRepository(Payment).insert({ run, label: 'paid' })],
    [
      'getRepository().upsert',
      (manager, run) => manager.getRepository(Payment).upsert({ run, label: 'paid' }, ['run', 'label']),
    ],
    [
      'getRepository().createQueryBuilder',
      (manager, run) =>
        manager.getRepository(Payment).createQueryBuilder().insert().values({ run, label: 'paid' }).execute(),
    ],
    [
      'manager.createQueryBuilder',
      (manager, run) => manager.createQueryBuilder().insert().into(Payment).values({ run, label: 'paid' }).execute(),
    ],
    [
      'withRepository',
      (manager, run) => {
        const injected = new PaymentRepository(Payment, app.dataSource.manager);
        return manager.withRepository(injected).pay(run, 'paid');
      },
    ],
    ['an update', (manager, run) => updated(manager, run)],
    ['queryRunner.query', (manager, run) => manager.queryRunner!.query(INSERT, [run, 'paid'])],
    ['queryRunner.manager', (manager, run) => manager.queryRunner!.manager.query(INSERT, [run, 'paid'])],
  ];
  const INSERT = 'INSERT INTO payments (run, label) VALUES ($1, $2)';

  async function updated(manager: EntityManager, run: string): Promise<void> {
    const { id } = await manager.save(Payment, { run, label: 'draft' });
    await manager.update(Payment, { id }, { label: 'paid' });
  }

  it.each(ways)('commits with the answer: %s', async (_, write) => {
    const { status, payments } = await outcomeOf(async (manager, run) => {
      await write(manager, run);
      expect(await manager.countBy(Payment, { run })).toBe(1);
    });
    expect([status, payments]).toEqual([201, ['paid']]);
  });

  it.each(ways)('is undone with the work: %s', async (_, write) => {
    const { status, payments } = await outcomeOf(async (manager, run) => {
      await write(manager, run);
      await fail();
    });
    expect([status, payments]).toEqual([500, []]);
  });

  it('saves a hundred entities in one call and in chunks', async () => {
    const { status, payments } = await outcomeOf(async (manager, run) => {
      const entities = Array.from({ length: 100 }, (_, index) => ({ run, label: `p${index}` }));
      await manager.getRepository(Payment).save(entities, { chunk: 30 });
    });
    expect([status, payments.length]).toEqual([201, 100]);
  });

  it('locks and reads its own writes', async () => {
    const { status, payments } = await outcomeOf(async (manager, run) => {
      const saved = await manager.save(Payment, { run, label: 'locked' });
      const locked = await manager.findOneOrFail(Payment, {
        where: { id: saved.id },
        lock: { mode: 'pessimistic_write' },
      });
      locked.label = 'changed';
      await manager.save(locked);
    });
    expect([status, payments]).toEqual([201, ['changed']]);
  });
});

describe('subscribers', () => {
  it('write with the work before the commit', async () => {
    subscriber.beforeTransactionCommit = async ({ manager }) => {
      const [row] = await manager.query<{ run: string }[]>('SELECT run FROM payments ORDER BY id DESC LIMIT 1');
      await pay(manager, row!.run, 'by the subscriber');
    };
    const { status, payments } = await outcomeOf((manager, run) => pay(manager, run, 'by the handler'));
    expect([status, payments]).toEqual([201, ['by the handler', 'by the subscriber']]);
  });

  it('undo everything when they fail before the commit, and the key is free', async () => {
    subscriber.beforeTransactionCommit = fail;
    const { status, payments, key } = await outcomeOf((manager, run) => pay(manager, run, 'paid'));
    expect([status, payments]).toEqual([500, []]);
    subscriber = {};
    const retry = await app.attempt((manager, run) => pay(manager, run, 'retried'), key);
    expect([retry.status, await app.witness.payments(key)]).toEqual([201, ['retried']]);
  });

  it('are told of the commit once it has happened, and not of one that has not', async () => {
    const seen: string[][] = [];
    const told: Promise<unknown>[] = [];
    let run = '';
    subscriber.afterTransactionCommit = () => {
      told.push(app.witness.payments(run).then((payments) => seen.push(payments)));
    };
    const work: Work = async (manager, key) => {
      run = key;
      await pay(manager, key, 'paid');
    };
    await outcomeOf(async (manager, key) => {
      await work(manager, key);
      await fail();
    });
    await outcomeOf(work);
    await eventually('a subscriber is told', () => told.length > 0);
    await Promise.all(told);
    expect(seen).toEqual([['paid']]);
  });

  it('harm nobody when they fail after the commit', async () => {
    subscriber.afterTransactionCommit = fail;
    const { status, payments, key } = await outcomeOf((manager, run) => pay(manager, run, 'paid'));
    expect([status, payments]).toEqual([201, ['paid']]);
    const retry = await app.attempt(fail, key);
    expect([retry.status, retry.headers.get('Idempotent-Replayed')]).toEqual([201, 'true']);
  });

  it('make settings of the transaction at its start', async () => {
    subscriber.afterTransactionStart = async ({ queryRunner }) => {
      await queryRunner.query(`SET LOCAL application_name = 'tenant 42'`);
    };
    const { status, body } = await outcomeOf(async (manager) => {
      const [row] = await manager.query<{ name: string }[]>(`SELECT current_setting('application_name') AS name`);
      return row;
    });
    expect([status, body]).toEqual([201, '{"name":"tenant 42"}']);
  });

  it('write with the work when an entity is inserted', async () => {
    subscriber.afterInsert = async ({ entity, manager }) => {
      const { run, label } = entity as Payment;
      if (label === 'paid') await manager.insert(Payment, { run, label: 'audited' });
    };
    const { status, payments } = await outcomeOf((manager, run) => manager.save(Payment, { run, label: 'paid' }));
    expect([status, payments]).toEqual([201, ['audited', 'paid']]);
  });
});
