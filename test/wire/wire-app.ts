import type { AddressInfo } from 'node:net';
import {
  type CallHandler,
  ClassSerializerInterceptor,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type INestApplication,
  Module,
  type Provider,
  Req,
  type Type,
} from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  idempotencyEntities,
  idempotencyMigrations,
  IdempotencyModule,
  type IdempotencyModuleOptions,
} from 'nestjs-idempotency';
import type { Observable } from 'rxjs';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { AnswersController } from './answers.controller.js';
import { ExpressAnswersController } from './express-answers.controller.js';
import { FastifyAnswersController } from './fastify-answers.controller.js';
import { Ledger, ledgerProvider } from './ledger.js';
import { type Logged, furnishExpress, furnishFastify } from './middleware.js';
import { RECORDING_LIMIT_BYTES } from './payloads.js';
import { type Request, type Response, send } from './socket.js';

export type Platform = 'express' | 'fastify';
export const PLATFORMS: readonly Platform[] = ['express', 'fastify'];

/** Stands outside the library's interceptor, and touches only what asks for it. */
@Injectable()
class OuterSerializer extends ClassSerializerInterceptor {
  override async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const isMeant = context.getHandler().name === 'serializedOutside';
    return isMeant ? super.intercept(context, next) : next.handle();
  }
}

@Controller()
class VisitsController {
  /** Follows every other request on its connection, to show what state that left it in. */
  @Get('after')
  after(): unknown {
    return 'still here';
  }

  @Get('visits')
  visits(@Req() request: { session: { visits: number } }): unknown {
    return { visits: request.session.visits };
  }
}

export interface WireAppOptions {
  readonly platform: Platform;
  readonly url: string;
  /** Without the library `@Idempotent()` stays on the handlers and does nothing. Default true. */
  readonly isProtected?: boolean;
  readonly idempotency?: Partial<IdempotencyModuleOptions>;
  readonly controllers?: readonly Type[];
  /** Interceptors in the order given, all outside the library's. */
  readonly outerInterceptors?: readonly Type[];
  readonly providers?: readonly Provider[];
  /** Called before the routes are there. */
  readonly configure?: (app: INestApplication) => void;
}

export interface WireApp {
  readonly app: INestApplication;
  readonly port: number;
  readonly ledger: Ledger;
  readonly log: readonly Logged[];
  /** The runs whose response was closed, by whichever side. */
  readonly closed: ReadonlySet<string>;
  send(request: Request): Promise<Response>;
  close(): Promise<void>;
}

export async function startWireApp(options: WireAppOptions): Promise<WireApp> {
  const { platform, url, isProtected = true, idempotency, controllers = [], outerInterceptors = [] } = options;

  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...dataSourceOptions(url), retryAttempts: 0 }),
      ...(isProtected
        ? [
            IdempotencyModule.forRoot({
              singleTenant: true,
              recordingLimitBytes: RECORDING_LIMIT_BYTES,
              ...idempotency,
            }),
          ]
        : []),
    ],
    controllers: [
      VisitsController,
      AnswersController,
      platform === 'express' ? ExpressAnswersController : FastifyAnswersController,
      ...controllers,
    ],
    providers: [
      ledgerProvider(isProtected),
      ...[OuterSerializer, ...outerInterceptors].map((useClass) => ({ provide: APP_INTERCEPTOR, useClass })),
      ...(options.providers ?? []),
    ],
  })
  class WireModule {}

  const log: Logged[] = [];
  const closed = new Set<string>();
  const app = await create(WireModule, options, log, closed);
  const { port } = app.getHttpServer().address() as AddressInfo;
  return {
    app,
    port,
    ledger: app.get(Ledger),
    log,
    closed,
    send: (request) => send(port, request),
    close: () => app.close(),
  };
}

async function create(root: Type, { platform, configure }: WireAppOptions, log: Logged[], closed: Set<string>) {
  const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
  const app = await NestFactory.create(root, adapter, { abortOnError: false, logger: false });
  try {
    if (platform === 'express') furnishExpress(app, log, closed);
    else await furnishFastify(app as NestFastifyApplication, log, closed);
    configure?.(app);
    await app.listen(0, '127.0.0.1');
    return app;
  } catch (error) {
    await app.close();
    throw error;
  }
}

function dataSourceOptions(url: string): DataSourceOptions {
  return { type: 'postgres', url, entities: [...idempotencyEntities], migrations: idempotencyMigrations };
}

/** Creates the library's tables by its migration, and the business table. */
export async function prepareDatabase(url: string): Promise<void> {
  const dataSource = await new DataSource(dataSourceOptions(url)).initialize();
  await dataSource.runMigrations();
  await dataSource.query('CREATE TABLE ledger (id integer GENERATED ALWAYS AS IDENTITY, run text NOT NULL)');
  await dataSource.destroy();
}
