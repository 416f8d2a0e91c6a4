import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller } from '@nestjs/common';
import { EventPattern, Payload, ServerKafka } from '@nestjs/microservices';
import { Idempotent, type IdempotencyModuleOptions, type ParkedMessage, TransactionManager } from 'nestjs-idempotency';
import type { EntityManager } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { gate } from '../module/gate.js';
import { pay, prepareDatabase } from '../module/work-app.js';
import { type MessageApp, startMessageApp } from './message-app.js';
import { shortly } from './shortly.js';

jest.setTimeout(30_000);

interface Posting {
  readonly run: string;
  readonly label: string;
  readonly then?: 'throw' | 'wait';
}

/** What a handler waits for, by the run of its message. */
const gates = new Map<string, Promise<void>>();

@Controller()
class PostingsController {
  @EventPattern<string>('postings')
  @Idempotent({ endpoint: 'postings' })
  async post(@Payload() { run, label, then }: Posting, @TransactionManager() manager: EntityManager): Promise<void> {
    await pay(manager, run, label);
    if (then === 'throw') throw new Error('The ledger is closed.');
    if (then === 'wait') await gates.get(run);
  }
}

/** Nest's server without its connection to a broker: what it is handed, it handles as it would what a broker sends. */
class BrokerlessKafka extends ServerKafka {
  override async listen(callback: () => void): Promise<void> {
    callback();
    return Promise.resolve();
  }

  /** Resolves where Kafka would go on behind the message; rejects where it would deliver it again. */
  deliver(posting: Posting, headers: Record<string, string>): Promise<unknown> {
    const message = {
      key: null,
      value: Buffer.from(JSON.stringify(posting)),
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)])),
      timestamp: '0',
      attributes: 0,
      offset: '0',
    };
    return this.handleMessage({
      topic: 'postings',
      partition: 0,
      message,
      heartbeat: () => Promise.resolve(),
      pause: () => () => undefined,
    });
  }
}

let database: TestDatabase;
let app: MessageApp;
let kafka: BrokerlessKafka;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
});

afterAll(() => database?.drop());

afterEach(() => app?.stop());

async function start(idempotency: Partial<IdempotencyModuleOptions> = {}): Promise<void> {
  kafka = new BrokerlessKafka({ consumer: { groupId: 'postings' } });
  const controllers = [PostingsController];
  app = await startMessageApp({ url: database.url, controllers, idempotency, transports: [{ strategy: kafka }] });
}

const event = (id: string): Record<string, string> => ({ ce_specversion: '1.0', ce_source: '/bank', ce_id: id });

describe('an event over Kafka', () => {
  it('takes effect once, and Kafka goes on behind each of its deliveries', async () => {
    await start();
    const run = randomUUID();
    await kafka.deliver({ run, label: 'a' }, event(run));
    await kafka.deliver({ run, label: 'a' }, event(run));
    expect(await app.witness.payments(run)).toEqual(['a']);
    expect(app.settled.map(({ settlement }) => settlement.kind)).toEqual(['acknowledge', 'acknowledge']);
  });

  it('is delivered again while another consumer has it', async () => {
    await start();
    const run = randomUUID();
    const { open, passed } = gate();
    gates.set(run, passed);
    const first = kafka.deliver({ run, label: 'a', then: 'wait' }, event(run));
    await shortly(
      async () => (await app.witness.rows('SELECT FROM idempotency_records WHERE state <> $1', 'completed')).length > 0,
    );
    const second = kafka.deliver({ run, label: 'a', then: 'wait' }, event(run)).then(
      () => 'went on',
      () => 'again',
    );
    await shortly(() => app.settled.length === 1);
    open();
    await first;
    expect(await second).toBe('again');
    await kafka.deliver({ run, label: 'a', then: 'wait' }, event(run));
    expect(await app.witness.payments(run)).toEqual(['a']);
  });

  it('is delivered again after a failure', async () => {
    await start();
    const run = randomUUID();
    await expect(kafka.deliver({ run, label: 'a', then: 'throw' }, event(run))).rejects.toThrow();
    expect(await app.witness.payments(run)).toEqual([]);
  });

  it('that can never be handled is not gone on behind before the application has put it aside', async () => {
    const parked: ParkedMessage[] = [];
    await start({ messages: { park: (message) => void parked.push(message) } });
    const run = randomUUID();
    await kafka.deliver({ run, label: 'a' }, event(run));
    await kafka.deliver({ run, label: 'b' }, event(run));
    await kafka.deliver({ run, label: 'c' }, {});
    expect(parked.map(({ endpoint, reason }) => [endpoint, reason])).toEqual([
      ['postings', 'mismatch'],
      ['postings', 'unidentified'],
    ]);
    expect(parked[0]!.envelope.payload).toEqual({ run, label: 'b' });
    expect(await app.witness.payments(run)).toEqual(['a']);
  });

  it('that can never be handled stops its partition where the application has no place for it', async () => {
    await start();
    await expect(kafka.deliver({ run: randomUUID(), label: 'a' }, {})).rejects.toThrow();
  });
});
