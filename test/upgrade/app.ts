import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Body, ConflictException, Controller, Inject, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import * as library from 'nestjs-idempotency';
import { Client } from 'pg';
import { DataSource, EntityManager } from 'typeorm';

const { aes256Gcm, IdempotencyContext, IdempotencyModule, Idempotent, Operation, TransactionManager } = library;
const { idempotencyEntities, idempotencyMigrations } = library;

export type Version = 'previous' | 'current';
export type Place = 'in the call' | 'after the call' | 'before COMMIT';

export interface Order {
  readonly amount: number;
  /** Where a process that is doomed stands for ever. */
  readonly standsAt?: Place;
}

export interface AppOptions {
  readonly url: string;
  readonly version: Version;
  readonly leaseMs: number;
  /** Whether orders stand where they say. */
  readonly isDoomed?: boolean;
}

const BUSINESS_TABLES = `
  CREATE TABLE IF NOT EXISTS effects (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, endpoint text, key text, version text);
  CREATE TABLE IF NOT EXISTS charges (provider_key text PRIMARY KEY, key text);`;

/** An effect that says whose it is, and nothing that would keep a second one from being written. */
class Effects {
  constructor(
    private readonly version: Version,
    private readonly isDoomed: boolean,
    private readonly provider: Client,
  ) {}

  async write(manager: EntityManager, endpoint: string, key: string, order: Order): Promise<unknown> {
    const [effect] = await manager.query<{ id: number }[]>(
      'INSERT INTO effects (endpoint, key, version) VALUES ($1, $2, $3) RETURNING id',
      [endpoint, key, this.version],
    );
    await this.pass('before COMMIT', key, order);
    return { id: effect!.id, key, amount: order.amount, by: this.version };
  }

  /** The provider, which keeps keys: another key is another charge. */
  async charge(providerKey: string, key: string, order: Order): Promise<{ by: Version }> {
    await this.provider.query('INSERT INTO charges VALUES ($1, $2) ON CONFLICT DO NOTHING', [providerKey, key]);
    await this.pass('in the call', key, order);
    return { by: this.version };
  }

  async pass(place: Place, key: string, { standsAt }: Order): Promise<void> {
    if (!this.isDoomed || standsAt !== place) return;
    process.send!({ standing: key });
    await new Promise(() => undefined);
  }
}

const EFFECTS = 'EFFECTS';

@Controller()
class OrdersController {
  constructor(
    @Inject(EFFECTS) private readonly effects: Effects,
    @Inject(IdempotencyContext) private readonly context: library.IdempotencyContext,
  ) {}

  @Post('lease')
  @Idempotent({ endpoint: 'lease' })
  lease(@Body() order: Order, @TransactionManager() manager: EntityManager): Promise<unknown> {
    return this.write('lease', order, manager);
  }

  @Post('transaction')
  @Idempotent({ endpoint: 'transaction', claim: 'transaction' })
  transaction(@Body() order: Order, @TransactionManager() manager: EntityManager): Promise<unknown> {
    return this.write('transaction', order, manager);
  }

  @Post('sealed')
  @Idempotent({
    endpoint: 'sealed',
    protect: aes256Gcm({ keys: { one: Buffer.alloc(32, 1).toString('base64') }, current: 'one' }),
  })
  sealed(@Body() order: Order, @TransactionManager() manager: EntityManager): Promise<unknown> {
    return this.write('sealed', order, manager);
  }

  @Post('refused')
  @Idempotent({ endpoint: 'refused' })
  async refused(@Body() order: Order, @TransactionManager() manager: EntityManager): Promise<never> {
    await this.write('refused', order, manager);
    throw new ConflictException(`refused by ${this.context.operation!.key}`);
  }

  @Post('charged')
  @Idempotent({ endpoint: 'charged', transaction: 'manual' })
  async charged(@Body() order: Order, @Operation() operation: library.IdempotentOperation): Promise<unknown> {
    const { by } = await operation.step(
      'charge',
      ({ providerKey }) => this.effects.charge(providerKey, operation.key, order),
      { deadlineMs: 1_000 },
    );
    await this.effects.pass('after the call', operation.key, order);
    return operation.commit(async (manager) => ({
      ...((await this.effects.write(manager, 'charged', operation.key, order)) as object),
      charged: by,
    }));
  }

  private write(endpoint: string, order: Order, manager: EntityManager): Promise<unknown> {
    return this.effects.write(manager, endpoint, this.context.operation!.key, order);
  }
}

/** Starts the application as its version would be deployed: the migrations of that version first. */
export async function startApp({ url, version, leaseMs, isDoomed = false }: AppOptions): Promise<number> {
  const provider = new Client(url);
  await provider.connect();

  @Module({
    imports: [
      TypeOrmModule.forRootAsync({
        useFactory: () => ({ type: 'postgres', toRetry: () => false }),
        dataSourceFactory: () => openDataSource(url, version),
      }),
      IdempotencyModule.forRoot({
        singleTenant: true,
        leaseMs,
        providerKeySecret: 'the same in every process of every version',
        sweepEveryMs: 200,
      }),
    ],
    controllers: [OrdersController],
    providers: [{ provide: EFFECTS, useValue: new Effects(version, isDoomed, provider) }],
  })
  class Orders {}

  const app = await NestFactory.create(Orders, { abortOnError: false, logger: ['error', 'fatal'] });
  app.enableShutdownHooks();
  await app.listen(0, '127.0.0.1');
  return ((app.getHttpServer() as Server).address() as AddressInfo).port;
}

async function openDataSource(url: string, version: Version): Promise<DataSource> {
  const dataSource = await new DataSource({
    type: 'postgres',
    url,
    applicationName: version,
    entities: [...idempotencyEntities],
    migrations: [...idempotencyMigrations],
  }).initialize();
  await dataSource.query(BUSINESS_TABLES);
  await ('migrateOnce' in library ? library.migrateOnce(dataSource) : dataSource.runMigrations());
  return dataSource;
}
