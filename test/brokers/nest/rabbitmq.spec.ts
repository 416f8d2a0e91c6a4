import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type CanActivate, Controller, type ExecutionContext, ForbiddenException, Injectable } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import {
  ClientProxyFactory,
  Ctx,
  EventPattern,
  MessagePattern,
  type MicroserviceOptions,
  Payload,
  RmqContext,
  RmqRecordBuilder,
  Transport,
} from '@nestjs/microservices';
import amqp from 'amqplib';
import { Idempotent, TransactionManager } from 'nestjs-idempotency';
import { lastValueFrom } from 'rxjs';
import type { EntityManager } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../../database/test-database.js';
import { type MessageApp, startMessageApp } from '../../messages/message-app.js';
import { shortly } from '../../messages/shortly.js';
import { pay, prepareDatabase } from '../../module/work-app.js';
import { brokerUrl } from '../urls.js';

jest.setTimeout(60_000);

const RABBITMQ = brokerUrl('RABBITMQ_URL');

interface Settled {
  readonly run: string;
  readonly label: string;
  readonly then?: 'throw' | 'settle' | 'wait';
}

/** What the handlers wait for, by the run of their message. */
const gates = new Map<string, Promise<void>>();

@Controller()
class SettlementsController {
  @EventPattern<string>('settled')
  @Idempotent({ endpoint: 'ledger' })
  async post(
    @Payload() { run, label, then }: Settled,
    @Ctx() context: RmqContext,
    @TransactionManager() manager: EntityManager,
  ): Promise<void> {
    await pay(manager, run, label);
    if (then === 'throw') throw new Error('The ledger is closed.');
    if (then === 'settle') context.getChannelRef().ack(context.getMessage());
    if (then === 'wait') await gates.get(run);
  }

  @EventPattern<string>('refunded')
  @Idempotent({ key: (context: ExecutionContext) => context.switchToRpc().getData<{ of: Settled }>().of.run })
  async refund(@Payload() { run, label }: Settled, @TransactionManager() manager: EntityManager): Promise<void> {
    await pay(manager, run, label);
  }

  @EventPattern<string>('disputed')
  @Idempotent({ fingerprint: (context: ExecutionContext) => context.switchToRpc().getData<{ of: Settled }>().of.run })
  async dispute(@Payload() { run, label }: Settled, @TransactionManager() manager: EntityManager): Promise<void> {
    await pay(manager, run, label);
  }

  @MessagePattern('balance')
  @Idempotent()
  async balance(
    @Payload() { run, label, then }: Settled,
    @TransactionManager() manager: EntityManager,
  ): Promise<object> {
    await pay(manager, run, label);
    if (then === 'throw') throw new Error('The ledger is closed.');
    if (then === 'wait') await gates.get(run);
    return { run, at: new Date(0), serial: randomUUID() };
  }
}

let database: TestDatabase;
let broker: amqp.ChannelModel;
let channel: amqp.Channel;
let queue: string;
let dead: string;
let running: MessageApp | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  broker = await amqp.connect(RABBITMQ);
});

afterAll(async () => {
  await broker?.close();
  await database?.drop();
});

beforeEach(async () => {
  queue = `test-${randomUUID()}`;
  dead = `${queue}-dead`;
  channel = await broker.createChannel();
  await channel.assertQueue(dead, { durable: true });
});

afterEach(async () => {
  await running?.stop();
  running = undefined;
  await channel.deleteQueue(queue);
  await channel.deleteQueue(dead);
  await channel.close();
});

function transport(options: object = {}): MicroserviceOptions {
  const queueOptions = { durable: true, deadLetterExchange: '', deadLetterRoutingKey: dead };
  return {
    transport: Transport.RMQ,
    options: { urls: [RABBITMQ], queue, queueOptions, noAck: false, prefetchCount: 10, ...options },
  };
}

async function start(options: object = {}): Promise<MessageApp> {
  running = await startMessageApp({
    url: database.url,
    controllers: [SettlementsController],
    idempotency: { lease: '2s' },
    transports: [transport(options)],
  });
  return running;
}

function send(data: Settled, properties: amqp.Options.Publish = {}, pattern = 'settled'): void {
  channel.sendToQueue(queue, Buffer.from(JSON.stringify({ pattern, data })), properties);
}

const isEmpty = async (): Promise<boolean> => (await channel.checkQueue(queue)).messageCount === 0;
const kinds = ({ settled }: MessageApp) => settled.map(({ settlement }) => settlement.kind);

describe('events of RabbitMQ', () => {
  it('take effect once, however often they are delivered, and are acknowledged each time', async () => {
    const app = await start();
    const run = randomUUID();
    for (let i = 0; i < 5; i++) send({ run, label: 'a' }, { messageId: run });
    await shortly(() => kinds(app).filter((kind) => kind === 'acknowledge').length === 5);
    expect(await app.witness.payments(run)).toEqual(['a']);
    await app.stop();
    running = undefined;
    expect(await isEmpty()).toBe(true);
  });

  it('are dead-lettered with another payload under one id, or with no id, and the consumer goes on', async () => {
    const app = await start();
    const run = randomUUID();
    send({ run, label: 'a' }, { messageId: run });
    await shortly(() => app.settled.length === 1);
    send({ run, label: 'b' }, { messageId: run });
    send({ run, label: 'c' });
    send({ run, label: 'd' }, { messageId: randomUUID() });
    await shortly(async () => (await channel.checkQueue(dead)).messageCount === 2);
    await shortly(() => app.settled.length === 4);
    expect(await app.witness.payments(run)).toEqual(['a', 'd']);
    const parked = app.settled.flatMap(({ settlement }) => (settlement.kind === 'park' ? [settlement.reason] : []));
    expect(parked.sort()).toEqual(['mismatch', 'unidentified']);
  });

  it('are given back after a failure, after a pause, and dead-lettered when they have failed too often', async () => {
    running = await startMessageApp({
      url: database.url,
      controllers: [SettlementsController],
      idempotency: { messages: { maxTries: 2 } },
      transports: [transport()],
    });
    const run = randomUUID();
    send({ run, label: 'a', then: 'throw' }, { messageId: run });
    await shortly(async () => (await channel.checkQueue(dead)).messageCount === 1);
    expect(await running.witness.payments(run)).toEqual([]);
  });

  it.each([
    ['key', 'refunded', 'unidentified'],
    ['fingerprint', 'disputed', 'unreadable'],
  ])('are dead-lettered where the function in `%s` fails, and the consumer goes on', async (_, pattern, reason) => {
    const app = await start({ prefetchCount: 1 });
    const run = randomUUID();
    send({ run, label: 'a' }, { messageId: randomUUID() }, pattern);
    send({ run, label: 'b' }, { messageId: randomUUID() });
    await shortly(() => app.settled.length === 2);
    expect(app.settled[0]!.settlement).toMatchObject({ kind: 'park', reason });
    await shortly(async () => (await channel.checkQueue(dead)).messageCount === 1);
    expect(await app.witness.payments(run)).toEqual(['b']);
  });

  it('are dead-lettered where the resolver of tenants refuses them, and the consumer goes on', async () => {
    const tenantOf = (context: ExecutionContext): string => {
      if (context.switchToRpc().getData<Settled>().label === 'a') throw new ForbiddenException();
      return 'acct_1';
    };
    const app = (running = await startMessageApp({
      url: database.url,
      controllers: [SettlementsController],
      idempotency: { singleTenant: false, tenant: tenantOf },
      transports: [transport({ prefetchCount: 1 })],
    }));
    const run = randomUUID();
    send({ run, label: 'a' }, { messageId: randomUUID() });
    send({ run, label: 'b' }, { messageId: randomUUID() });
    await shortly(() => app.settled.length === 2);
    expect(app.settled[0]!.settlement).toMatchObject({ kind: 'park', reason: 'unscoped' });
    await shortly(async () => (await channel.checkQueue(dead)).messageCount === 1);
    expect(await app.witness.payments(run)).toEqual(['b']);
  });

  it('are given back where the application cannot put them aside, until it can', async () => {
    let tries = 0;
    const park = (): void => {
      if (++tries === 1) throw new Error('The table of dead letters is away.');
    };
    running = await startMessageApp({
      url: database.url,
      controllers: [SettlementsController],
      idempotency: { messages: { park } },
      transports: [transport({ prefetchCount: 1 })],
    });
    send({ run: randomUUID(), label: 'a' });
    await shortly(() => tries === 2);
    await running.stop();
    running = undefined;
    expect(await isEmpty()).toBe(true);
  });

  it('are given back after a failure, also where they say where to reply to', async () => {
    const app = await start();
    const run = randomUUID();
    send({ run, label: 'a', then: 'throw' }, { messageId: run, replyTo: dead });
    await shortly(() => app.settled.length === 2);
    expect(kinds(app)).toEqual(['retry', 'retry']);
    expect((await channel.checkQueue(dead)).messageCount).toBe(0);
  });

  it('cannot be acknowledged by their handler', async () => {
    const app = await start();
    const run = randomUUID();
    send({ run, label: 'a', then: 'settle' }, { messageId: run });
    await shortly(() => app.settled.length === 1);
    expect(app.settled[0]!.settlement).toMatchObject({ kind: 'retry', error: { code: 'idempotency-work-broken' } });
  });

  it('are not acknowledged while another consumer has them, and are processed when it dies', async () => {
    const run = randomUUID();
    let open = (): void => undefined;
    gates.set(run, new Promise((resolve) => (open = resolve)));
    const app = await start();
    send({ run, label: 'a', then: 'wait' }, { messageId: run });
    send({ run, label: 'a', then: 'wait' }, { messageId: run });
    await shortly(() => app.settled.length >= 1);
    expect(kinds(app)).not.toContain('acknowledge');
    open();
    await shortly(() => kinds(app).filter((kind) => kind === 'acknowledge').length === 2);
    expect(await app.witness.payments(run)).toEqual(['a']);
  });
});

describe('a message that a guard refuses', () => {
  @Injectable()
  class RefusesMarked implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      return !context.switchToRpc().getData<Settled>().label.startsWith('refused');
    }
  }

  const guarded = (options: object = {}): Promise<MessageApp> =>
    startMessageApp({
      url: database.url,
      controllers: [SettlementsController],
      providers: [{ provide: APP_GUARD, useClass: RefusesMarked }],
      transports: [transport({ prefetchCount: 1, ...options })],
    });

  it('is dead-lettered, and the consumer goes on', async () => {
    const app = (running = await guarded());
    const run = randomUUID();
    send({ run, label: 'refused 1' }, { messageId: randomUUID() });
    send({ run, label: 'refused 2' }, { messageId: randomUUID() });
    send({ run, label: 'a' }, { messageId: run });
    await shortly(async () => (await app.witness.payments(run)).length === 1);
    await shortly(async () => (await channel.checkQueue(dead)).messageCount === 2);
    expect(app.logbook.complaints('refused before its handler')).not.toEqual([]);
  });

  it('is given back where there is no place for it, and is not lost', async () => {
    const app = (running = await guarded({ queueOptions: { durable: true } }));
    send({ run: randomUUID(), label: 'refused' }, { messageId: randomUUID() });
    await shortly(() => app.logbook.complaints('refused before its handler').length === 1);
    await app.stop();
    running = undefined;
    expect((await channel.checkQueue(queue)).messageCount).toBe(1);
  });
});

describe('requests over RabbitMQ', () => {
  it('that come again are given the recorded reply', async () => {
    const app = await start();
    const client = ClientProxyFactory.create({
      transport: Transport.RMQ,
      options: {
        urls: [RABBITMQ],
        queue,
        noAck: true,
        queueOptions: { durable: true, deadLetterExchange: '', deadLetterRoutingKey: dead },
      },
    });
    const run = randomUUID();
    const ask = (data: Settled, messageId = run) =>
      lastValueFrom(client.send<unknown>('balance', new RmqRecordBuilder(data).setOptions({ messageId }).build()));
    try {
      const first = await ask({ run, label: 'a' });
      expect(await ask({ run, label: 'a' })).toEqual(first);
      await expect(ask({ run, label: 'b' })).rejects.toMatchObject({ code: 'idempotency-key-reused' });
      await expect(ask({ run: randomUUID(), label: 'x', then: 'throw' }, randomUUID())).rejects.toMatchObject({
        status: 'error',
      });
      expect(await app.witness.payments(run)).toEqual(['a']);
    } finally {
      await client.close();
    }
  });
});

describe('a transport that RabbitMQ forgets messages for', () => {
  it('is refused at start', async () => {
    await expect(start({ noAck: true })).rejects.toThrow('Set `noAck: false`');
  });

  it('is refused where it is connected later, before it is delivered anything', async () => {
    running = await startMessageApp({ url: database.url, controllers: [SettlementsController] });
    const { app } = running;
    expect(() => app.connectMicroservice(transport({ noAck: true }), { inheritAppConfig: true })).toThrow(
      'Set `noAck: false`',
    );
  });
});
