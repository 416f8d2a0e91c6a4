import type { AddressInfo } from 'node:net';
import { type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { idempotencyEntities, idempotencyMigrations, IdempotencyModule } from 'nestjs-idempotency';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { Logbook } from '../module/listening.js';
import { poolOf } from '../module/work-app.js';
import { effectsProvider } from './effects.js';
import { OpenController } from './open.controller.js';
import { UploadsController } from './uploads.controller.js';

export type Platform = 'express' | 'fastify';
export const PLATFORMS: readonly Platform[] = ['express', 'fastify'];

export interface OpenAppOptions {
  readonly platform: Platform;
  readonly url: string;
  /** The framework has one for all applications of a process. */
  readonly logbook: Logbook;
  /** Absent where the library is: then `@Idempotent()` stays on the handlers and does nothing. */
  readonly recordingLimitBytes?: number;
}

export interface OpenApp {
  readonly port: number;
  /** How many of its connections to the database somebody has, or waits for. */
  connections(): number;
  close(): Promise<void>;
}

export async function startOpenApp({ platform, url, logbook, recordingLimitBytes }: OpenAppOptions): Promise<OpenApp> {
  const isProtected = recordingLimitBytes !== undefined;

  @Module({
    imports: [
      TypeOrmModule.forRoot(dataSourceOptions(url)),
      ...(isProtected ? [IdempotencyModule.forRoot({ singleTenant: true, recordingLimitBytes })] : []),
    ],
    controllers: [OpenController, ...(platform === 'express' ? [UploadsController] : [])],
    providers: [effectsProvider(isProtected)],
  })
  class OpenModule {}

  const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
  const app = await NestFactory.create(OpenModule, adapter, { abortOnError: false, logger: logbook, rawBody: true });
  readTextAndBytes(app, platform);
  await app.listen(0, '127.0.0.1');
  const dataSource = app.get<DataSource>(getDataSourceToken());
  return {
    port: (app.getHttpServer().address() as AddressInfo).port,
    connections: () => {
      const { totalCount, idleCount, waitingCount } = poolOf(dataSource);
      return totalCount - idleCount + waitingCount;
    },
    close: () => app.close(),
  };
}

function readTextAndBytes(app: INestApplication, platform: Platform): void {
  if (platform === 'express') {
    const express = app as NestExpressApplication;
    express.useBodyParser('text');
    express.useBodyParser('raw');
  } else {
    const fastify = app as NestFastifyApplication;
    fastify.useBodyParser('text/plain');
    fastify.useBodyParser('application/octet-stream');
  }
}

function dataSourceOptions(url: string): DataSourceOptions {
  return { type: 'postgres', url, poolSize: 20, entities: [...idempotencyEntities], migrations: idempotencyMigrations };
}

/** Creates the library's tables by its migration, and the table of effects, which lets anything be written twice. */
export async function prepareDatabase(url: string): Promise<void> {
  const dataSource = await new DataSource(dataSourceOptions(url)).initialize();
  await dataSource.runMigrations();
  await dataSource.query('CREATE TABLE effects (mark text NOT NULL, operation text)');
  await dataSource.query('CREATE INDEX ON effects (mark)');
  await dataSource.destroy();
}
