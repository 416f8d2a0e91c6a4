import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller } from '@nestjs/common';
import {
  ClientProxyFactory,
  EventPattern,
  MessagePattern,
  type MicroserviceOptions,
  NatsRecordBuilder,
  Payload,
  Transport,
} from '@nestjs/microservices';
import { headers } from '@nats-io/transport-node';
import { Idempotent, TransactionManager } from 'nestjs-idempotency';
import { lastValueFrom } from 'rxjs';
import type { EntityManager } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../../database/test-database.js';
import { type MessageApp, startMessageApp } from '../../messages/message-app.js';
import { shortly } from '../../messages/shortly.js';
import { pay, prepareDatabase } from '../../module/work-app.js';
import { brokerUrl } from '../urls.js';

jest.setTimeout(60_000);

/** Subjects, topics and channels are shared by all who use the broker. */
const NAME = randomUUID();

interface Posting {
  readonly run: string;
  readonly label: string;
}

@Controller()
class PostingsController {
  @MessagePattern(`balance.${NAME}`)
  @Idempotent()
  async balance(@Payload() { run, label }: Posting, @TransactionManager() manager: EntityManager): Promise<object> {
    await pay(manager, run, label);
    return { serial: randomUUID() };
  }

  @EventPattern<string>(`posted.${NAME}`)
  @Idempotent({ endpoint: 'postings' })
  async post(@Payload() { run, label }: Posting, @TransactionManager() manager: EntityManager): Promise<void> {
    await pay(manager, run, label);
  }
}

const redis = new URL(brokerUrl('REDIS_URL'));
const TRANSPORTS: [name: string, transport: MicroserviceOptions][] = [
  ['NATS', { transport: Transport.NATS, options: { servers: [brokerUrl('NATS_URL')] } }],
  ['Redis', { transport: Transport.REDIS, options: { host: redis.hostname, port: Number(redis.port || 6379) } }],
  ['MQTT', { transport: Transport.MQTT, options: { url: brokerUrl('MQTT_URL') } }],
];

let database: TestDatabase;
let running: MessageApp | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
});

afterAll(() => database?.drop());

afterEach(async () => {
  await running?.stop();
  running = undefined;
});

/** An event that says of itself what it is: these transports have no common field for it. */
const event = (run: string, label: string): object => ({ specversion: '1.0', source: '/bank', id: run, run, label });

describe.each(TRANSPORTS)('over %s', (_, transport) => {
  it('a request that comes again is given the recorded reply, and an event takes effect once', async () => {
    const app = (running = await startMessageApp({
      url: database.url,
      controllers: [PostingsController],
      transports: [transport],
    }));
    const client = ClientProxyFactory.create(transport as object);
    try {
      const [asked, told] = [randomUUID(), randomUUID()];
      const ask = (label: string) => lastValueFrom(client.send<object>(`balance.${NAME}`, event(asked, label)));
      const first = await ask('a');
      expect(first).toEqual({ serial: expect.any(String) });
      expect(await ask('a')).toEqual(first);
      await expect(ask('b')).rejects.toMatchObject({ code: 'idempotency-key-reused' });
      for (let i = 0; i < 3; i++) {
        await lastValueFrom(client.emit(`posted.${NAME}`, event(told, 'a')), { defaultValue: undefined });
      }
      await shortly(() => app.settled.filter(({ endpoint }) => endpoint === 'postings').length === 3);
      expect(await app.witness.payments(asked)).toEqual(['a']);
      expect(await app.witness.payments(told)).toEqual(['a']);
    } finally {
      await client.close();
    }
  });
});

describe('over NATS', () => {
  it('a message is recognised by its Nats-Msg-Id', async () => {
    const [, transport] = TRANSPORTS[0]!;
    const app = (running = await startMessageApp({
      url: database.url,
      controllers: [PostingsController],
      transports: [transport],
    }));
    const client = ClientProxyFactory.create(transport as object);
    try {
      const run = randomUUID();
      const named = headers();
      named.set('Nats-Msg-Id', run);
      const ask = (data: Posting) =>
        lastValueFrom(client.send<object>(`balance.${NAME}`, new NatsRecordBuilder(data).setHeaders(named).build()));
      const first = await ask({ run, label: 'a' });
      expect(await ask({ run, label: 'a' })).toEqual(first);
      expect(await app.witness.payments(run)).toEqual(['a']);
    } finally {
      await client.close();
    }
  });
});
