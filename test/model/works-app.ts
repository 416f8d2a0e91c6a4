import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  Module,
  type NestInterceptor,
  RequestTimeoutException,
} from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { idempotencyEntities, IdempotencyModule } from 'nestjs-idempotency';
import { defer, map, type Observable, raceWith } from 'rxjs';
import type { DataSource } from 'typeorm';
import { poolOf } from '../module/work-app.js';
import { Stage } from './stage.js';
import { WorksController } from './works.controller.js';

export type Platform = 'express' | 'fastify';
export const PLATFORMS: readonly Platform[] = ['express', 'fastify'];

/** More than the attempts that are ever under way, so that nobody waits for a connection. */
const POOL_SIZE = 24;

interface Asking {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Answers 408 in the handler's place, when the test says so. */
@Injectable()
class TimeoutInterceptor implements NestInterceptor {
  constructor(private readonly stage: Stage) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { headers } = context.switchToHttp().getRequest<Asking>();
    const timeout = defer(() => this.stage.sceneOf(headers['x-attempt'] ?? '').timeout.passed);
    return next.handle().pipe(raceWith(timeout.pipe(map(timedOut))));
  }
}

function timedOut(): never {
  throw new RequestTimeoutException();
}

export interface WorksApp {
  readonly port: number;
  readonly stage: Stage;
  /** How many of its connections to the database somebody has, or waits for. */
  connections(): number;
  close(): Promise<void>;
}

export async function startWorksApp(platform: Platform, url: string): Promise<WorksApp> {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url, entities: [...idempotencyEntities], poolSize: POOL_SIZE }),
      IdempotencyModule.forRoot({
        tenant: (context) => context.switchToHttp().getRequest<Asking>().headers['x-tenant'],
        // Longer than anything here takes: a lease runs out when the test says so.
        lease: '10m',
      }),
    ],
    controllers: [WorksController],
    providers: [Stage, { provide: APP_INTERCEPTOR, useClass: TimeoutInterceptor }],
  })
  class WorksModule {}

  const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
  const app = await NestFactory.create(WorksModule, adapter, { abortOnError: false, logger: false });
  const stage = app.get(Stage);
  app.use(({ headers }: IncomingMessage, res: ServerResponse, next: () => void) => {
    res.on('close', () => stage.sceneOf(String(headers['x-attempt'])).left.open());
    next();
  });
  await app.listen(0, '127.0.0.1');
  const dataSource = app.get<DataSource>(getDataSourceToken());
  return {
    port: (app.getHttpServer().address() as AddressInfo).port,
    stage,
    connections: () => {
      const { totalCount, idleCount, waitingCount } = poolOf(dataSource);
      return totalCount - idleCount + waitingCount;
    },
    close: () => app.close(),
  };
}
