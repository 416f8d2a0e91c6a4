import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, HttpCode, Injectable, type LoggerService, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import {
  idempotencyEntities,
  idempotencyMigrations,
  IdempotencyModule,
  type IdempotencyModuleOptions,
  Idempotent,
  type IdempotentOperation,
  IdempotentOperations,
  Operation,
  type ReconciledAnswer,
  Reconciles,
} from 'nestjs-idempotency';
import type { DataSource, DataSourceOptions } from 'typeorm';

import { poolOf } from '../../module/work-app.js';
import { Charging, type Paid } from './charging.js';

@Controller()
class ChargesController {
  constructor(private readonly charging: Charging) {}

  @Post('charges')
  @HttpCode(201)
  @Idempotent({ endpoint: 'charges', transaction: 'manual' })
  charge(@Operation() operation: IdempotentOperation): Promise<Paid> {
    return this.charging.charge(operation);
  }

  @Post('captures')
  @HttpCode(201)
  @Idempotent({ endpoint: 'captures', transaction: 'manual' })
  capture(@Operation() operation: IdempotentOperation): Promise<Paid> {
    return this.charging.authorizeAndCapture(operation);
  }
}

@Injectable()
class ChargesReconciler {
  constructor(private readonly charging: Charging) {}

  @Reconciles('charges')
  async charge(operation: IdempotentOperation): Promise<ReconciledAnswer> {
    return { status: 201, body: await this.charging.charge(operation) };
  }

  @Reconciles('captures')
  async capture(operation: IdempotentOperation): Promise<ReconciledAnswer> {
    return { status: 201, body: await this.charging.authorizeAndCapture(operation) };
  }
}

export interface ChargingAppOptions {
  readonly url: string;
  readonly poolSize?: number;
  readonly idempotency?: Partial<IdempotencyModuleOptions>;
  readonly logger?: LoggerService;
}

/** The application that pays orders: `POST /charges` and `POST /captures`, with the order's id as the key. */
export interface ChargingApp {
  readonly port: number;
  readonly operations: IdempotentOperations;
  /** The pool of its connections, as the driver counts them. */
  pool(): ReturnType<typeof poolOf>;
  stop(): Promise<void>;
}

export function dataSourceOptions(url: string, poolSize = 8): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    poolSize,
    applicationName: 'charging',
    entities: idempotencyEntities,
    migrations: idempotencyMigrations,
  };
}

export async function startChargingApp(options: ChargingAppOptions): Promise<ChargingApp> {
  const { url, poolSize, idempotency, logger } = options;

  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...dataSourceOptions(url, poolSize), retryAttempts: 0 }),
      IdempotencyModule.forRoot({
        singleTenant: true,
        providerKeySecret: 'the secret of the tests',
        // Reconciled is what the tests ask for, and when.
        reconcileAfterMs: 1,
        reconcileEvery: '1d',
        ...idempotency,
      }),
    ],
    controllers: [ChargesController],
    providers: [Charging, ChargesReconciler],
  })
  class ChargingModule {}

  const app = await NestFactory.create(ChargingModule, { abortOnError: false, logger: logger ?? false });
  await app.listen(0, '127.0.0.1');
  return {
    port: ((app.getHttpServer() as Server).address() as AddressInfo).port,
    operations: app.get(IdempotentOperations),
    pool: () => poolOf(app.get<DataSource>(getDataSourceToken())),
    stop: () => app.close(),
  };
}
