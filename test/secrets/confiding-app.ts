import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { idempotencyEntities, idempotencyMigrations, IdempotencyModule } from 'nestjs-idempotency';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ConfidingController, confide, Halt, SECRETS, tenantOf } from './confiding.controller.js';
import type { Secrets } from './secrets.js';

export type Platform = 'express' | 'fastify';
export const PLATFORMS: readonly Platform[] = ['express', 'fastify'];

export interface ConfidingApp {
  readonly port: number;
  readonly halt: Halt;
  close(): Promise<void>;
}

/** Starts the application with the framework's own logger, at every level. */
export async function startConfidingApp(platform: Platform, url: string, secrets: Secrets): Promise<ConfidingApp> {
  confide(secrets);

  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...dataSourceOptions(url), retryAttempts: 0 }),
      IdempotencyModule.forRoot({
        tenant: tenantOf,
        providerKeySecret: secrets['the secret that provider keys are made with'],
        acquireTimeoutMs: 1_000,
        statementTimeoutMs: 2_000,
      }),
    ],
    controllers: [ConfidingController],
    providers: [Halt, { provide: SECRETS, useValue: secrets }],
  })
  class ConfidingModule {}

  const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
  const app = await NestFactory.create(ConfidingModule, adapter, {
    abortOnError: false,
    logger: ['verbose', 'debug', 'log', 'warn', 'error', 'fatal'],
  });
  await app.listen(0, '127.0.0.1');
  return {
    port: (app.getHttpServer().address() as AddressInfo).port,
    halt: app.get(Halt),
    close: () => app.close(),
  };
}

function dataSourceOptions(url: string): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    applicationName: 'confiding',
    poolSize: 4,
    entities: [...idempotencyEntities],
    migrations: idempotencyMigrations,
  };
}

/** Creates the library's tables by its migration, and the business table. */
export async function prepareDatabase(url: string): Promise<void> {
  const dataSource = await new DataSource(dataSourceOptions(url)).initialize();
  await dataSource.runMigrations();
  await dataSource.query('CREATE TABLE cards (number text NOT NULL)');
  await dataSource.query('CREATE TABLE holders (name text UNIQUE DEFERRABLE INITIALLY DEFERRED)');
  await dataSource.destroy();
}
