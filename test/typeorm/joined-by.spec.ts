import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { IdempotentOperation, TransactionOpener } from 'nestjs-idempotency';
import { DataSource, type EntityManager } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually, gate } from '../module/gate.js';
import { Logbook } from '../module/listening.js';
import { Witness } from '../module/witness.js';
import { dataSourceOptions, pay, prepareDatabase } from '../module/work-app.js';
import { request, type ServiceApp, startServiceApp } from '../service/service-app.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let witness: Witness;
let app: ServiceApp | undefined;
let key: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  witness = await Witness.of(database.url);
});

beforeEach(() => {
  key = randomUUID();
});

afterEach(async () => {
  await app?.stop();
  app = undefined;
});

afterAll(async () => {
  await witness?.close();
  await database?.drop();
});

const payments = () => witness.payments(key);

async function start(joinedBy: (dataSource: DataSource) => TransactionOpener, logbook?: Logbook): Promise<ServiceApp> {
  const opener: TransactionOpener = (work) => joinedBy(started.dataSource)(work);
  const started = await startServiceApp({
    url: database.url,
    idempotency: { joinedBy: opener },
    ...(logbook && { logbook }),
  });
  return (app = started);
}

const paying = ({ manager }: IdempotentOperation) => pay(manager, key, 'paid').then(() => 'paid');

describe('whoever opens a transaction for the work', () => {
  it.each<[how: string, open: (dataSource: DataSource, run: (manager: EntityManager) => Promise<unknown>) => unknown]>([
    ['of the data source', (dataSource, run) => dataSource.transaction(run)],
    ['of its manager', (dataSource, run) => dataSource.manager.transaction(run)],
    ['without an isolation', (dataSource, run) => dataSource.transaction(undefined as never, run)],
  ])("is given the operation's: %s", async (_, open) => {
    let theirs: EntityManager | undefined;
    const { service } = await start(
      (dataSource) => (work) => open(dataSource, (manager) => ((theirs = manager), work())),
    );
    let ours: EntityManager | undefined;
    await service.run(request({ key }), async (operation) => {
      ours = operation.manager;
      await paying(operation);
    });
    expect(theirs).toBe(ours);
    expect(await payments()).toEqual(['paid']);
  });

  it('is given it once: the next is a transaction of its own', async () => {
    const { service, dataSource } = await start((given) => (work) => given.transaction(work));
    const working = service.run(request({ key }), async (operation) => {
      await paying(operation);
      await dataSource.transaction((manager) => pay(manager, key, 'apart'));
      throw new Error('The work failed.');
    });
    await expect(working).rejects.toThrow('The work failed.');
    expect(await payments()).toEqual(['apart']);
  });

  it('sees it end when it is committed, and not before', async () => {
    const ended = gate();
    let seen: string[] | undefined;
    const { service } = await start((dataSource) => async (work) => {
      await dataSource.transaction(work);
      seen = await payments();
      ended.open();
    });
    await service.run(request({ key }), paying);
    await ended.passed;
    expect(seen).toEqual(['paid']);
  });

  it('sees it fail where it is undone, be it after its work had returned', async () => {
    const failed = gate();
    let error: unknown;
    const { service } = await start(
      (dataSource) => (work) =>
        dataSource.transaction(work).catch((thrown: unknown) => {
          error = thrown;
          failed.open();
        }),
    );
    const losing = service.run(request({ key }), async (operation) => {
      await paying(operation);
      await witness.rows('UPDATE idempotency_records SET token = gen_random_uuid() WHERE key = $1', key);
    });
    await expect(losing).rejects.toMatchObject({ code: 'idempotency-request-in-progress' });
    await failed.passed;
    expect(error).toMatchObject({ message: 'The work was undone after it had returned.' });
    expect(await payments()).toEqual([]);
  });
});

describe('what it does after the commit', () => {
  it('is logged where it fails', async () => {
    const logbook = new Logbook();
    const failing = (dataSource: DataSource) => async (work: () => Promise<unknown>) => {
      await dataSource.transaction(work);
      throw new Error('The hook failed.');
    };
    const { service } = await start(failing, logbook);
    expect(await service.run(request({ key }), paying)).toEqual({ kind: 'executed', value: 'paid' });
    await eventually('the failure is logged', () => logbook.complaints('The hook failed.')[0]);
    expect(await payments()).toEqual(['paid']);
  });
});

describe('nothing is run, or everything undone, where it', () => {
  it.each<[how: string, open: (dataSource: DataSource) => TransactionOpener, remedy: string]>([
    ['opens no transaction', () => (work) => work(), 'opened none'],
    [
      'runs nothing',
      (dataSource) => () => dataSource.transaction(() => Promise.resolve()),
      'Let it call what it is given',
    ],
    ['asks for an isolation', (given) => (work) => given.transaction('SERIALIZABLE', work), 'Let it ask for none'],
    ['fails', () => () => Promise.reject(new Error('no context')), 'no context'],
    [
      'opens another transaction before, which is the one that it is given',
      (dataSource) => async (work) => {
        await dataSource.transaction((manager) => manager.query('SELECT'));
        return dataSource.transaction(work);
      },
      'another one before',
    ],
    [
      'opens another one inside',
      (dataSource) => (work) => dataSource.transaction(() => dataSource.transaction(work)),
      'outside the first new transaction',
    ],
    [
      'has returned when it opens one',
      (dataSource) => (work) => void setImmediate(() => void dataSource.transaction(work)),
      'did not run its work',
    ],
  ])('%s', async (_, open, remedy) => {
    const { service } = await start(open);
    let runs = 0;
    const counted = async (operation: IdempotentOperation) => {
      runs++;
      await paying(operation);
    };
    await expect(service.run(request({ key }), counted)).rejects.toThrow(remedy);
    expect([runs, await payments()]).toEqual([0, []]);
    expect(await witness.rows('SELECT FROM idempotency_records WHERE key = $1', key)).toEqual([]);
  });

  it('does not wait for its transaction, nor does a failure of that go unhandled', async () => {
    const { service } = await start((dataSource) => (work) => void dataSource.transaction(work));
    const failing = async (operation: IdempotentOperation) => {
      await paying(operation);
      throw new Error('The work failed.');
    };
    for (const work of [paying, failing]) {
      await expect(service.run(request({ key }), work)).rejects.toThrow('Let it return the promise');
    }
    expect(await payments()).toEqual([]);
  });

  it('opens the transaction of another data source', async () => {
    const other = await new DataSource(dataSourceOptions(database.url)).initialize();
    try {
      const { service } = await start(() => (work) => other.transaction(work));
      await expect(service.run(request({ key }), paying)).rejects.toThrow('another data source');
      expect(await payments()).toEqual([]);
    } finally {
      await other.destroy();
    }
  });

  it('runs its work twice: once it is run', async () => {
    let second: unknown;
    const { service } = await start((dataSource) => (work) => {
      const first = dataSource.transaction(work);
      return Promise.all([first, work().catch((error: unknown) => (second = error))]);
    });
    let runs = 0;
    await service.run(request({ key }), async (operation) => {
      runs++;
      await paying(operation);
    });
    expect(second).toMatchObject({ message: expect.stringContaining('ran its work twice') });
    expect([runs, await payments()]).toEqual([1, ['paid']]);
  });
});
