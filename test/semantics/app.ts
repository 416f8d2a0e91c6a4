import type { AddressInfo } from 'node:net';
import {
  type BeforeApplicationShutdown,
  type ExecutionContext,
  type INestApplication,
  Injectable,
  Module,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  idempotencyEntities,
  idempotencyMigrations,
  IdempotencyModule,
  type IdempotencyModuleOptions,
  IdempotentOperations,
} from 'nestjs-idempotency';
import { DataSource } from 'typeorm';
import { type Logbook } from '../module/listening.js';
import { gate } from '../wire/gate.js';
import { Routes, WholeClass } from './routes.js';
import { scriptFor } from './script.js';
import { MappingFilter, OuterInterceptor, ScriptedGuard, ScriptedPipe } from './surroundings.js';

export type Platform = 'express' | 'fastify';
export const PLATFORMS: readonly Platform[] = ['express', 'fastify'];

export interface AppOptions {
  readonly platform: Platform;
  readonly url: string;
  readonly logbook: Logbook;
  readonly idempotency?: Partial<IdempotencyModuleOptions>;
  readonly poolSize?: number;
  /** Whether the bytes of parsed bodies are kept. Default true. */
  readonly rawBody?: boolean;
  readonly controllers?: readonly Type[];
  readonly providers?: readonly Provider[];
}

export interface App {
  readonly dataSource: DataSource;
  readonly port: number;
  /** Stops it as SIGTERM would; harmless when called again. */
  close(): Promise<void>;
  /** Sweeps the database once. */
  sweep(): Promise<number>;
  /** Resolves when it is being stopped, and takes no new work. */
  readonly closing: Promise<void>;
}

function dataSourceOptions(url: string, poolSize = 10) {
  return {
    type: 'postgres' as const,
    url,
    poolSize,
    entities: [...idempotencyEntities],
    migrations: [...idempotencyMigrations],
  };
}

/** Creates the library's tables by its migrations, and the business table. */
export async function prepareDatabase(url: string): Promise<void> {
  const dataSource = await new DataSource(dataSourceOptions(url)).initialize();
  await dataSource.runMigrations();
  await dataSource.query('CREATE TABLE payments (id integer GENERATED ALWAYS AS IDENTITY, run text NOT NULL)');
  await dataSource.destroy();
}

function scriptedTenant(context: ExecutionContext) {
  const { tenant } = scriptFor(context);
  return tenant ? tenant() : 'shop';
}

/** Rejects, with everything closed again, where the application refuses to start. */
export async function startApp(options: AppOptions): Promise<App> {
  const {
    platform,
    url,
    logbook,
    idempotency = {},
    poolSize,
    rawBody = true,
    controllers = [],
    providers = [],
  } = options;
  const scope = idempotency.singleTenant ? {} : { tenant: scriptedTenant };
  const dataSource = new DataSource(dataSourceOptions(url, poolSize));
  let connecting: Promise<unknown> | undefined;
  const closing = gate();

  @Injectable()
  class Closing implements BeforeApplicationShutdown {
    beforeApplicationShutdown(): void {
      closing.open();
    }
  }

  @Module({
    imports: [
      TypeOrmModule.forRootAsync({
        useFactory: () => ({ ...dataSourceOptions(url, poolSize), retryAttempts: 0 }),
        dataSourceFactory: () => (connecting = dataSource.initialize()),
      }),
      IdempotencyModule.forRoot({ ...scope, ...idempotency }),
    ],
    controllers: [Routes, WholeClass, ...controllers],
    providers: [
      Closing,
      ScriptedPipe,
      { provide: APP_GUARD, useClass: ScriptedGuard },
      { provide: APP_INTERCEPTOR, useClass: OuterInterceptor },
      { provide: APP_FILTER, useClass: MappingFilter },
      ...providers,
    ],
  })
  class Root {}

  const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter({ bodyLimit: BODY_LIMIT_BYTES });
  let nest: INestApplication | undefined;
  try {
    nest = await NestFactory.create(Root, adapter, { abortOnError: false, logger: logbook, rawBody });
    if (platform === 'express') readMoreOnExpress(nest as NestExpressApplication);
    else readMoreOnFastify(nest as NestFastifyApplication);
    await nest.listen(0, '127.0.0.1');
  } catch (error) {
    await nest?.close();
    // Nest closes nothing where it fails while it creates the application.
    await connecting?.catch(() => undefined);
    if (dataSource.isInitialized) await dataSource.destroy();
    throw error;
  }
  const started = nest;
  const { port } = started.getHttpServer().address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    dataSource,
    port,
    close: () => (closed ??= started.close()),
    sweep: () => started.get(IdempotentOperations).sweep(),
    closing: closing.passed,
  };
}

/** The longest body that is read. */
export const BODY_LIMIT_BYTES = 50_000;

const JSON_TYPES = ['application/json', 'application/vnd.shop+json'];

/** Text and bytes besides what is read anyway; multipart is left to whoever takes the files. */
function readMoreOnExpress(nest: NestExpressApplication): void {
  nest.useBodyParser('json', { type: JSON_TYPES, strict: false, limit: BODY_LIMIT_BYTES });
  nest.useBodyParser('text');
  nest.useBodyParser('raw');
}

function readMoreOnFastify(nest: NestFastifyApplication): void {
  const fastify = nest.getHttpAdapter().getInstance();
  nest.useBodyParser(JSON_TYPES[1]!, {}, fastify.getDefaultJsonParser('ignore', 'ignore') as never);
  nest.useBodyParser('application/octet-stream');
  fastify.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null));
}
