import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type INestApplication, Module, ValidationPipe } from '@nestjs/common';
import { APP_INTERCEPTOR, APP_PIPE, NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdempotencyContext, IdempotencyModule, type IdempotencyModuleOptions } from 'nestjs-idempotency';

import { ApiKeyGuard, callerOf } from './caller.js';
import { Cues } from './cues.js';
import { dataSourceOptions } from './database.js';
import { OwnTimeout } from './own-timeout.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentsService } from './payments.service.js';

export type Platform = 'express' | 'fastify';
export const PLATFORMS: readonly Platform[] = ['express', 'fastify'];

export interface AppOptions {
  readonly platform: Platform;
  readonly url: string;
  readonly idempotency?: Partial<IdempotencyModuleOptions>;
  /** Called before the application listens. */
  readonly configure?: (nest: INestApplication) => void;
}

/** The application of these pages: `POST /payments`, with nothing between it and the client. */
export interface App {
  readonly port: number;
  readonly cues: Cues;
  readonly guard: ApiKeyGuard;
  readonly context: IdempotencyContext;
  /** How many responses have been closed, by whichever side. */
  closings(): number;
  close(): Promise<void>;
}

export async function startApp({ platform, url, idempotency, configure }: AppOptions): Promise<App> {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...dataSourceOptions(url), retryAttempts: 0 }),
      IdempotencyModule.forRoot({ tenant: (context) => callerOf(context)?.merchant, ...idempotency }),
    ],
    controllers: [PaymentsController],
    providers: [
      PaymentsService,
      Cues,
      ApiKeyGuard,
      { provide: APP_INTERCEPTOR, useClass: OwnTimeout },
      { provide: APP_PIPE, useValue: new ValidationPipe() },
    ],
  })
  class Root {}

  const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
  const nest = await NestFactory.create(Root, adapter, { abortOnError: false, logger: false });
  let closings = 0;
  try {
    if (platform === 'express') (nest as NestExpressApplication).disable('x-powered-by').disable('etag');
    configure?.(nest);
    await nest.listen(0, '127.0.0.1');
  } catch (error) {
    await nest.close();
    throw error;
  }
  const server = nest.getHttpServer() as Server;
  server.prependListener('request', (_, response: ServerResponse) => response.once('close', () => closings++));
  return {
    port: (server.address() as AddressInfo).port,
    cues: nest.get(Cues),
    guard: nest.get(ApiKeyGuard),
    context: nest.get(IdempotencyContext),
    closings: () => closings,
    close: () => nest.close(),
  };
}
