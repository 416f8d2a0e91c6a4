import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { PspProcess } from '../psp/process.js';
import { BankLines } from './demo/bank-lines.js';
import { DeadPort } from './demo/dead-port.js';
import { DemoProcess, runBank } from './demo/demo-process.js';
import { type Arrived, Ledger } from './demo/ledger.js';
import { shortly } from './shortly.js';
import { brokerUrl } from './urls.js';

jest.setTimeout(240_000);

const PREFIX = `test-${randomBytes(6).toString('hex')}`;
const BROKERS = {
  RABBITMQ_URL: brokerUrl('RABBITMQ_URL'),
  NATS_URL: brokerUrl('NATS_URL'),
  BROKER_PREFIX: PREFIX,
  MESSAGE_TRIES: '2',
};

let databases: TestDatabase[] = [];
let psp: PspProcess;
let demo: DemoProcess;
let lines: BankLines;
let ledger: Ledger;
/** Everything that the bank has told of, by now. */
const arrived: Arrived[] = [];

const startDemo = (environment: NodeJS.ProcessEnv = {}): Promise<DemoProcess> =>
  DemoProcess.start({
    DATABASE_URL: databases[0]!.url,
    PSP_URL: `http://localhost:${psp.port}`,
    ...BROKERS,
    ...environment,
  });

/** The demo, its provider and the bank, as they were built, each in a process of its own. */
beforeAll(async () => {
  databases = [await createTestDatabase(), await createTestDatabase()];
  psp = await PspProcess.start({ DATABASE_URL: databases[1]!.url });
  lines = await BankLines.open(PREFIX);
  await lines.declare();
  demo = await startDemo();
  ledger = await Ledger.open(databases[0]!.url);
  await shortly('the demo has declared its streams', () =>
    lines.unsettledAtNats().then(
      () => true,
      () => false,
    ),
  );
});

afterAll(async () => {
  await demo?.stop();
  await psp?.end('SIGTERM');
  await lines?.remove();
  await ledger?.close();
  for (const database of databases) await database.drop();
});

/** Has the bank tell of new settlements, and resolves to them. */
async function settle(...args: string[]): Promise<Arrived[]> {
  const printed = await runBank({ ...BROKERS, PAYMENTS_URL: demo.url }, ...args);
  const told = printed.flatMap((line): Arrived[] => {
    const [, id, charge, amount, currency] = /^(stl_\S+) (\S+) (\d+) (\w+)$/.exec(line) ?? [];
    return id === undefined ? [] : [{ id, charge: charge!, amount: Number(amount), currency: currency! }];
  });
  arrived.push(...told);
  return told;
}

const untilPosted = (told: readonly Arrived[]): Promise<void> =>
  shortly(`${told.length} settlements are posted`, async () => (await ledger.posted(told)) >= told.length);

/** Resolves when neither broker has anything left to deliver, also of what the demo held when it was stopped. */
async function untilSettled(): Promise<void> {
  for (;;) {
    await shortly('NATS has nothing left', async () => (await lines.unsettledAtNats()) === 0);
    await shortly('RabbitMQ has nothing left', async () => (await lines.waitingAtRabbitMq()) === 0);
    await demo.stop();
    const left = await lines.waitingAtRabbitMq();
    demo = await startDemo();
    if (left === 0) return;
  }
}

async function newEvent() {
  const id = randomUUID();
  const charge = await demo.charge(1234);
  const data = { id: `stl_${id}`, charge, amount: 1234, currency: 'usd', settledAt: '2026-11-27T06:00:00Z' };
  const { settledAt: _, ...told } = data;
  return { told, event: { specversion: '1.0', type: 'settlement.arrived', source: '/banks/demo', id, data } };
}

describe('settlements', () => {
  it('are posted once, by whichever broker they come, however often, in whatever order', async () => {
    const told = await settle('--count', '30', '--duplicates', '2', '--redeliver-while-running', '--reorder');
    expect(told).toHaveLength(30);
    await untilPosted(told);
    await untilSettled();
    await ledger.expectPosted(arrived);
    expect(await lines.deadLetters()).toEqual({ rabbitmq: 0, nats: 0 });
  });

  it('that come by one broker are posted by it', async () => {
    for (const broker of ['rabbitmq', 'nats']) await untilPosted(await settle('--count', '2', '--to', broker));
    await ledger.expectPosted(arrived);
  });

  it('are one operation, also where the other broker brings them while they are worked on', async () => {
    const { told, event } = await newEvent();
    arrived.push(told);
    await ledger.holdingTheBank(async () => {
      await lines.sendByRabbitMq(event);
      await shortly('RabbitMQ brought it', async () => (await ledger.waiting()) === 1);
      const seq = await lines.sendByNats(event);
      await shortly('NATS brought it', () => lines.isDeliveredByNats(seq));
      expect(await lines.unsettledAtNats()).toBe(1);
    });
    await shortly('NATS has nothing left', async () => (await lines.unsettledAtNats()) === 0);
    await untilPosted([told]);
    await ledger.waitADay();
    await lines.sendByRabbitMq(event);
    await lines.sendByNats(event);
    await untilSettled();
    await ledger.expectPosted(arrived);
    expect(await lines.deadLetters()).toEqual({ rabbitmq: 0, nats: 0 });
  });

  it('that say something else than before lie among the dead letters, by either broker', async () => {
    const { told, event } = await newEvent();
    arrived.push(told);
    await lines.sendByNats(event);
    await untilPosted([told]);
    const other = { ...event, data: { ...event.data, amount: 1 } };
    await lines.sendByNats(other);
    await lines.sendByRabbitMq(other);
    await shortly('both are put aside', async () => {
      const { rabbitmq, nats } = await lines.deadLetters();
      return rabbitmq === 1 && nats === 1;
    });
    // They lie there again when they are sent again.
    await runBank(BROKERS, '--replay-dead-letters');
    await shortly('both are put aside again', async () => {
      const { rabbitmq, nats } = await lines.deadLetters();
      return rabbitmq === 1 && nats === 1 && (await lines.unsettledAtNats()) === 0;
    });
    await ledger.expectPosted(arrived);
    await lines.dropDeadLetters();
  });

  it('that could not be posted are posted once when they are sent again a day later', async () => {
    await ledger.rows(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'closed'; END $$`);
    await ledger.rows('CREATE TRIGGER fail BEFORE INSERT ON settlements EXECUTE FUNCTION fail()');
    const told = await settle('--count', '3', '--to', 'both');
    await shortly('all are put aside', async () => {
      const { rabbitmq, nats } = await lines.deadLetters();
      return rabbitmq === told.length && nats === told.length;
    });
    expect(await ledger.posted(told)).toBe(0);
    await ledger.rows('DROP FUNCTION fail() CASCADE');
    await ledger.waitADay();

    expect(await runBank(BROKERS, '--replay-dead-letters')).toEqual(
      expect.arrayContaining(['rabbitmq: 3 dead letters are sent again.', 'nats: 3 dead letters are sent again.']),
    );
    await untilPosted(told);
    await untilSettled();
    await ledger.expectPosted(arrived);
    expect(await lines.deadLetters()).toEqual({ rabbitmq: 0, nats: 0 });
  });

  it('are posted once when the demo is killed in the midst of them', async () => {
    const told = await ledger.holdingTheBank(async () => {
      const sent = await settle('--count', '20', '--duplicates', '1', '--reorder');
      await shortly('several are worked on', async () => (await ledger.waiting()) >= 3);
      await demo.kill();
      return sent;
    });
    expect(await ledger.posted(told)).toBe(0);
    // The leases of a process that is gone run out.
    await ledger.waitADay();
    demo = await startDemo();
    await untilPosted(told);
    await untilSettled();
    await ledger.expectPosted(arrived);
    expect(await lines.deadLetters()).toEqual({ rabbitmq: 0, nats: 0 });
  });
});

describe('payment.charged', () => {
  it('is published to both brokers for every charge, under its own id', async () => {
    const charges = await ledger.rows<{ reference: string }>(
      `SELECT merchant_id || '/' || id AS reference FROM charges`,
    );
    await shortly('nothing waits to be published', async () => (await unpublished()).length === 0);
    const ids = charges.map(({ reference }) => `payment.charged/${reference}`).sort();
    for (const published of [await lines.eventsAtRabbitMq(), await lines.eventsAtNats()]) {
      expect([...new Set(published.map(({ id }) => id))].sort()).toEqual(ids);
      for (const { id, event } of published) expect(event).toMatchObject({ id, type: 'payment.charged' });
    }
  });
});

const unpublished = (): Promise<{ attempts: number }[]> =>
  ledger.rows(`SELECT attempts FROM graphile_worker.jobs WHERE task_identifier = 'publish-event'`);

describe('a demo whose brokers are away', () => {
  it('charges, says that they are away, and catches up when they are there', async () => {
    await demo.stop();
    const rabbitMq = await DeadPort.before(BROKERS.RABBITMQ_URL);
    const nats = await DeadPort.before(BROKERS.NATS_URL);
    try {
      demo = await startDemo({ RABBITMQ_URL: rabbitMq.url, NATS_URL: nats.url });
      const { told, event } = await newEvent();
      arrived.push(told);
      const said = (port: number, what: string) =>
        demo.lines.some((line) => line.includes(`127.0.0.1:${port} ${what}`));
      await shortly('it has said so', () => [rabbitMq, nats].every(({ port }) => said(port, 'cannot be reached')));
      await shortly('it has tried to publish', async () => ((await unpublished())[0]?.attempts ?? 0) > 0);
      await lines.sendByRabbitMq(event);

      await rabbitMq.open();
      await nats.open();
      await untilPosted([told]);
      await shortly('it has said so', () => [rabbitMq, nats].every(({ port }) => said(port, 'is there again')));
      await ledger.rows('UPDATE graphile_worker._private_jobs SET run_at = now()');
      await shortly('nothing waits to be published', async () => (await unpublished()).length === 0);
      const id = `payment.charged/${told.charge}`;
      expect((await lines.eventsAtRabbitMq()).map((published) => published.id)).toContain(id);
      expect((await lines.eventsAtNats()).map((published) => published.id)).toContain(id);
      await ledger.expectPosted(arrived);
    } finally {
      await demo.stop();
      rabbitMq.close();
      nats.close();
    }
  });
});

describe('the bank', () => {
  it('says what it can do, and what it lacks', async () => {
    expect((await runBank({}, '--help')).join('\n')).toContain('--replay-dead-letters');
    await expect(runBank({ RABBITMQ_URL: '', NATS_URL: '' })).rejects.toThrow('Set RABBITMQ_URL or NATS_URL');
    await expect(runBank(BROKERS, '--to', 'pigeon')).rejects.toThrow('--to pigeon is none of');
  });
});
