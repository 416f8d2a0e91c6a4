import { randomUUID } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller, type ExecutionContext, type NestInterceptor, UseInterceptors } from '@nestjs/common';
import { ClientProxyFactory, EventPattern, MessagePattern, Payload, Transport } from '@nestjs/microservices';
import { Idempotent, type IdempotencyModuleOptions, TransactionManager } from 'nestjs-idempotency';
import { lastValueFrom, of, retry } from 'rxjs';
import type { EntityManager } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { gate } from '../module/gate.js';
import { pay, prepareDatabase } from '../module/work-app.js';
import { type MessageApp, startMessageApp } from './message-app.js';
import { shortly } from './shortly.js';

jest.setTimeout(30_000);

interface Transfer {
  readonly id?: string;
  readonly run: string;
  readonly label: string;
}

const gates = new Map<string, Promise<void>>();
const idOf = { key: (context: ExecutionContext) => context.switchToRpc().getData<Transfer>().id };

@Controller()
class TransfersController {
  @MessagePattern('transfer')
  @Idempotent(idOf)
  async transfer(@Payload() { run, label }: Transfer, @TransactionManager() manager: EntityManager): Promise<object> {
    await pay(manager, run, label);
    await gates.get(run);
    return { serial: randomUUID() };
  }

  @MessagePattern('fail')
  @Idempotent(idOf)
  async fail(@Payload() { run, label }: Transfer, @TransactionManager() manager: EntityManager): Promise<never> {
    await pay(manager, run, label);
    throw new Error('The ledger is closed.');
  }

  @MessagePattern('retried')
  @UseInterceptors({ intercept: (_, next) => next.handle().pipe(retry(1)) } satisfies NestInterceptor)
  @Idempotent(idOf)
  async retried(@Payload() { run }: Transfer, @TransactionManager() manager: EntityManager): Promise<void> {
    await pay(manager, run, randomUUID());
    const payments = await manager.query<unknown[]>('SELECT FROM payments WHERE run = $1', [run]);
    if (payments.length === 1) throw new Error('The ledger is closed.');
  }

  @MessagePattern('values')
  @Idempotent(idOf)
  values(): unknown {
    return of(1, 2, 3);
  }

  @EventPattern<string>('transferred')
  @Idempotent()
  async first(@Payload() { run }: Transfer, @TransactionManager() manager: EntityManager): Promise<void> {
    await pay(manager, run, 'first');
  }
}

@Controller()
class EntityController {
  @EventPattern<string>('booked')
  @Idempotent(idOf)
  async book(@Payload() { run }: Transfer, @TransactionManager() manager: EntityManager): Promise<object> {
    await pay(manager, run, 'booked');
    const account: { owner?: object } = {};
    account.owner = { account };
    return account;
  }
}

@Controller()
class SecondController {
  @EventPattern<string>('transferred')
  @Idempotent()
  async second(@Payload() { run }: Transfer, @TransactionManager() manager: EntityManager): Promise<void> {
    await pay(manager, run, 'second');
  }
}

let database: TestDatabase;
let running: { app: MessageApp; port: number } | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
});

afterAll(() => database?.drop());

afterEach(async () => {
  await running?.app.stop();
  running = undefined;
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function start(
  options: { idempotency?: Partial<IdempotencyModuleOptions>; inheritAppConfig?: boolean } = {},
): Promise<{ app: MessageApp; port: number }> {
  const port = await freePort();
  const app = await startMessageApp({
    url: database.url,
    controllers: [TransfersController, EntityController, SecondController],
    transports: [{ transport: Transport.TCP, options: { host: '127.0.0.1', port } }],
    ...options,
  });
  running = { app, port };
  return running;
}

async function ask(port: number, pattern: string, data: object): Promise<unknown> {
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
  try {
    return await lastValueFrom(client.send<unknown>(pattern, data), { defaultValue: undefined });
  } finally {
    await client.close();
  }
}

async function tell(port: number, pattern: string, data: object): Promise<void> {
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
  try {
    await lastValueFrom(client.emit(pattern, data), { defaultValue: undefined });
  } finally {
    await client.close();
  }
}

describe('a request over TCP', () => {
  it('that comes again is given the recorded reply', async () => {
    const { app, port } = await start();
    const [id, run] = [randomUUID(), randomUUID()];
    const first = await ask(port, 'transfer', { id, run, label: 'a' });
    expect(await ask(port, 'transfer', { id, run, label: 'a' })).toEqual(first);
    expect(await app.witness.payments(run)).toEqual(['a']);
  });

  it('is told with a stable code why it is not handled', async () => {
    const { port } = await start();
    const [id, run] = [randomUUID(), randomUUID()];
    await ask(port, 'transfer', { id, run, label: 'a' });
    await expect(ask(port, 'transfer', { id, run, label: 'b' })).rejects.toMatchObject({
      status: 'error',
      code: 'idempotency-key-reused',
    });
    await expect(ask(port, 'transfer', { run, label: 'c' })).rejects.toMatchObject({ code: 'idempotency-key-missing' });
  });

  it('is told to come back while the first is being handled', async () => {
    const { port } = await start();
    const [id, run] = [randomUUID(), randomUUID()];
    const { open, passed } = gate();
    gates.set(run, passed);
    const first = ask(port, 'transfer', { id, run, label: 'a' });
    const { witness } = running!.app;
    await shortly(async () => (await witness.rows('SELECT FROM idempotency_records WHERE key = $1', id)).length === 1);
    await expect(ask(port, 'transfer', { id, run, label: 'a' })).rejects.toMatchObject({
      code: 'idempotency-request-in-progress',
      retryAfterMs: expect.any(Number),
    });
    open();
    expect(await first).toEqual(await ask(port, 'transfer', { id, run, label: 'a' }));
  });

  it('whose handler fails is told so, and everything is undone', async () => {
    const { app, port } = await start();
    const [id, run] = [randomUUID(), randomUUID()];
    await expect(ask(port, 'fail', { id, run, label: 'a' })).rejects.toMatchObject({ status: 'error' });
    await expect(ask(port, 'fail', { id, run, label: 'a' })).rejects.toMatchObject({ status: 'error' });
    expect(await app.witness.payments(run)).toEqual([]);
  });

  it('is not handled twice in one transaction, whatever an interceptor tries', async () => {
    const { app, port } = await start();
    const [id, run] = [randomUUID(), randomUUID()];
    await expect(ask(port, 'retried', { id, run, label: 'a' })).rejects.toMatchObject({
      code: 'idempotency-work-broken',
    });
    expect(await app.witness.payments(run)).toEqual([]);
  });

  it('is answered with the last value of several', async () => {
    const { port } = await start();
    const id = randomUUID();
    expect(await ask(port, 'values', { id })).toBe(3);
    expect(await ask(port, 'values', { id })).toBe(3);
  });
});

describe('an event over TCP', () => {
  it('is one operation for each of its consumers', async () => {
    const { app, port } = await start();
    const run = randomUUID();
    const event = { specversion: '1.0', source: '/bank', id: run, run };
    await tell(port, 'transferred', event);
    await tell(port, 'transferred', event);
    await shortly(() => app.settled.length === 4);
    expect(await app.witness.payments(run)).toEqual(['first', 'second']);
    const endpoints = app.settled.map(({ endpoint }) => endpoint).sort();
    expect(endpoints).toEqual([
      'SecondController.second',
      'SecondController.second',
      'TransfersController.first',
      'TransfersController.first',
    ]);
  });
});

describe('what the handler of an event returns', () => {
  it('goes nowhere, and may be what cannot be kept', async () => {
    const { app, port } = await start();
    const [id, run] = [randomUUID(), randomUUID()];
    await tell(port, 'booked', { id, run });
    await shortly(() => app.settled.length === 1);
    expect(app.settled[0]!.settlement.kind).toBe('acknowledge');
    expect(await app.witness.payments(run)).toEqual(['booked']);
  });
});

describe('a microservice', () => {
  it('that was connected without the global interceptors is noticed at start, and its messages are refused', async () => {
    const { app, port } = await start({ inheritAppConfig: false });
    expect(app.logbook.complaints('inheritAppConfig: true')).toHaveLength(1);
    const [id, run] = [randomUUID(), randomUUID()];
    await expect(ask(port, 'transfer', { id, run, label: 'a' })).rejects.toMatchObject({ status: 'error' });
    expect(await app.witness.payments(run)).toEqual([]);
  });

  it('that has them is not complained about', async () => {
    const { app } = await start();
    expect(app.logbook.complaints('inheritAppConfig')).toEqual([]);
  });

  it('whose messages may come again after they are forgotten is warned about', async () => {
    const { app } = await start({ idempotency: { messages: { retention: '1h', redeliveryHorizon: '3d' } } });
    expect(app.logbook.complaints('recognises a message for 1h')).not.toEqual([]);
  });
});
