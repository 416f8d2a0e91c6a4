import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';

import { type INestApplication, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { idempotencyEntities, IdempotencyModule, type IdempotencyModuleOptions } from 'nestjs-idempotency';

import { ledgerProvider } from '../wire/ledger.js';
import type { Response } from '../wire/socket.js';
import type { Platform } from '../wire/wire-app.js';
import { type Given, GivenByRun } from './given.js';
import { GivenController } from './given.controller.js';
import { deliver, type Message } from './message.js';

/** The largest body that the applications here read. */
const BODY_LIMIT_BYTES = 20 * 1024 * 1024;

export interface FingerprintAppOptions {
  readonly platform: Platform;
  readonly url: string;
  readonly controllers?: readonly Type[];
  readonly idempotency?: Partial<IdempotencyModuleOptions>;
  readonly rawBody?: boolean;
}

/** What became of a message that was sent. */
export interface Sent {
  readonly response: Response;
  readonly isReplay: boolean;
  /** What the handler was given; undefined if it was not run. */
  readonly given: Given | undefined;
}

export interface FingerprintApp {
  /** Sends a message under a key. */
  send(message: Message, key: string): Promise<Sent>;
  close(): Promise<void>;
}

/** An application whose parsers let through whatever they can. */
export async function startFingerprintApp(options: FingerprintAppOptions): Promise<FingerprintApp> {
  const { platform, url, controllers = [], idempotency, rawBody = false } = options;

  @Module({
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url, entities: [...idempotencyEntities], retryAttempts: 0 }),
      IdempotencyModule.forRoot({ singleTenant: true, ...idempotency }),
    ],
    controllers: [GivenController, ...controllers],
    providers: [ledgerProvider(true), GivenByRun],
  })
  class FingerprintModule {}

  const app = await NestFactory.create(FingerprintModule, adapterOf(platform), {
    abortOnError: false,
    logger: false,
    rawBody,
  });
  try {
    if (platform === 'express') readOnExpress(app as NestExpressApplication);
    else readOnFastify(app as NestFastifyApplication);
    await app.listen(0, '127.0.0.1');
  } catch (error) {
    await app.close();
    throw error;
  }
  return running(app);
}

function running(app: INestApplication): FingerprintApp {
  const { port } = app.getHttpServer().address() as AddressInfo;
  const given = app.get(GivenByRun);
  return {
    async send(message, key) {
      const run = randomUUID();
      const headers = [['Idempotency-Key', key], ['X-Run', run], ...(message.headers ?? [])] as const;
      const response = await deliver(port, { ...message, headers });
      return { response, isReplay: response.header('Idempotent-Replayed') === 'true', given: given.of(run) };
    },
    close: () => app.close(),
  };
}

function adapterOf(platform: Platform): ExpressAdapter | FastifyAdapter {
  if (platform === 'express') return new ExpressAdapter();
  return new FastifyAdapter({
    bodyLimit: BODY_LIMIT_BYTES,
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
  });
}

function readOnExpress(app: NestExpressApplication): void {
  app.useBodyParser('json', { limit: BODY_LIMIT_BYTES, strict: false, type: ['json', '+json'] });
  app.useBodyParser('text', { limit: BODY_LIMIT_BYTES });
  app.useBodyParser('raw', { limit: BODY_LIMIT_BYTES });
}

function readOnFastify(app: NestFastifyApplication): void {
  const instance = app.getHttpAdapter().getInstance();
  app.useBodyParser('application/octet-stream', { bodyLimit: BODY_LIMIT_BYTES });
  const json = instance.getDefaultJsonParser('ignore', 'ignore');
  instance.addContentTypeParser('application/merge-patch+json', { parseAs: 'string' }, json);
  // Two that read nothing, for handlers that read the stream themselves.
  instance.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null));
  instance.addContentTypeParser('application/xml', (_request, payload, done) => done(null, payload));
}
