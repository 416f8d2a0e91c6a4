import { randomUUID } from 'node:crypto';
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  type NestInterceptor,
  Post,
  RequestTimeoutException,
  Res,
  Version,
  VERSION_NEUTRAL,
  VersioningType,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Response } from 'express';
import { IdempotencyContext, Idempotent, TransactionManager } from 'nestjs-idempotency';
import { from, merge, mergeMap, type Observable, retry, take, throwError } from 'rxjs';
import { EntityManager, type EntitySubscriberInterface, EventSubscriber, type Repository } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { DatabaseProxy } from '../faults/database-proxy.js';
import { eventually, gate } from './gate.js';
import { Logbook } from './listening.js';
import { Payment } from './payment.entity.js';
import { pay, poolOf, prepareDatabase, startWorkApp, type Work, type WorkApp } from './work-app.js';

jest.setTimeout(30_000);

let beforeStart: () => Promise<void> | void = () => undefined;
let timeUp: Promise<void> | null = null;
let breaksEnd = false;

@EventSubscriber()
class Subscriber implements EntitySubscriberInterface {
  beforeTransactionStart(): Promise<void> | void {
    return beforeStart();
  }
}

class Outer implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (!timeUp) return next.handle();
    const late = from(timeUp).pipe(mergeMap(() => throwError(() => new RequestTimeoutException())));
    return merge(next.handle().pipe(retry(1)), late).pipe(take(1));
  }
}

@Controller('probe')
class ProbeController {
  constructor(
    private readonly context: IdempotencyContext,
    @InjectRepository(Payment) private readonly injected: Repository<Payment>,
  ) {}

  @Post('written')
  @Idempotent()
  async written(@TransactionManager() manager: EntityManager, @Res() response: Response): Promise<void> {
    const run = this.context.operation!.key;
    await pay(manager, run, 'paid');
    this.context.afterCommit(() => this.injected.insert({ run, label: 'after' }));
    response.status(201).json({});
  }

  @Post('optional')
  @Idempotent({ required: false })
  async optional(@TransactionManager() manager: EntityManager): Promise<void> {
    await pay(manager, 'optional', randomUUID());
  }
}

@Controller('versioned')
class VersionedController {
  @Post()
  @Version('1')
  @Idempotent()
  first(): unknown {
    return { version: 1 };
  }

  @Post()
  @Version('2')
  @Idempotent()
  second(): unknown {
    return { version: 2 };
  }
}

/** A middleware whose own mistake comes to light when the answer is written. */
function breakingEnd(_: unknown, response: Response, next: () => void): void {
  if (breaksEnd) {
    response.end = () => {
      throw new Error('The mistake of a middleware.');
    };
  }
  next();
}

let database: TestDatabase;
let proxy: DatabaseProxy;
let app: WorkApp;
const logbook = new Logbook();

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  proxy = await DatabaseProxy.to(database.url);
  app = await startWorkApp({
    url: database.url,
    appUrl: proxy.url,
    logbook,
    typeorm: { poolSize: 1, subscribers: [Subscriber] },
    idempotency: { acquireTimeoutMs: 2000 },
    configure: (nest) =>
      nest
        .enableVersioning({ type: VersioningType.HEADER, header: 'X-Version', defaultVersion: VERSION_NEUTRAL })
        .use(breakingEnd),
    module: {
      imports: [TypeOrmModule.forFeature([Payment])],
      controllers: [ProbeController, VersionedController],
      providers: [{ provide: APP_INTERCEPTOR, useClass: Outer }],
    },
  });
});

afterEach(async () => {
  beforeStart = () => undefined;
  timeUp = null;
  await proxy.heal();
});

afterAll(async () => {
  await app?.stop();
  await proxy?.close();
  await database?.drop();
});

describe('answers given outside, and before the work', () => {
  it('a callback after the commit of a handler that writes its own response is no stray write', async () => {
    const key = randomUUID();
    const { status } = await app.post('/probe/written', { key });
    expect(status).toBe(201);
    await eventually('called back', async () => (await app.witness.payments(key)).length === 2);
    expect(logbook.complaints('outside its idempotent transaction')).toEqual([]);
  });

  it('a request without a key is answered 503 while the database is away', async () => {
    await proxy.refuse();
    expect((await app.post('/probe/optional')).status).toBe(503);
  });

  it('an outer timeout while the work begins again leaves no open transaction on a pooled connection', async () => {
    const key = randomUUID();
    const [beginning, goOn, time] = [gate(), gate(), gate()];
    let begins = 0;
    beforeStart = () => {
      if (++begins !== 2) return;
      beginning.open();
      return goOn.passed;
    };
    timeUp = time.passed;
    const request = app.attempt(() => Promise.reject(new Error('first')), key);
    await beginning.passed;
    time.open();
    const answer = await request;
    goOn.open();
    timeUp = null;
    expect(answer.status).toBe(408);
    await eventually('rest', () => app.isPoolAtRest());
    await app.dataSource.query(`INSERT INTO payments (run, label) VALUES ($1, 'plain')`, [key]);
    expect(await app.witness.payments(key)).toEqual(['plain']);
    const inTransaction = await app.witness.rows(
      `SELECT state, query FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'`,
    );
    expect(inTransaction).toEqual([]);
  });

  it('an outer timeout while the work begins for the first time keeps the handler from being entered', async () => {
    const key = randomUUID();
    const [beginning, goOn, time] = [gate(), gate(), gate()];
    beforeStart = () => {
      beginning.open();
      return goOn.passed;
    };
    timeUp = time.passed;
    const request = app.attempt((manager, run) => pay(manager, run, 'paid'), key);
    await beginning.passed;
    time.open();
    const answer = await request;
    goOn.open();
    timeUp = null;
    expect(answer.status).toBe(408);
    await eventually('rest', () => app.isPoolAtRest());
    expect([app.runsOf(key), await app.witness.payments(key)]).toEqual([0, []]);
    const retry = await app.attempt((manager, run) => pay(manager, run, 'paid'), key);
    expect([retry.status, await app.witness.payments(key)]).toEqual([201, ['paid']]);
  });

  it('an outer timeout while the request waits for a connection keeps the handler from being entered', async () => {
    const key = randomUUID();
    const time = gate();
    const occupied = app.dataSource.createQueryRunner();
    await occupied.connect();
    timeUp = time.passed;
    const request = app.attempt((manager, run) => pay(manager, run, 'paid'), key);
    await eventually('the request waits', () => poolOf(app.dataSource).waitingCount === 1);
    time.open();
    const answer = await request;
    timeUp = null;
    await occupied.release();
    expect(answer.status).toBe(408);
    await eventually('rest', () => app.isPoolAtRest());
    expect([app.runsOf(key), await app.witness.payments(key)]).toEqual([0, []]);
    const retried = await app.attempt((manager, run) => pay(manager, run, 'paid'), key);
    expect([retried.status, await app.witness.payments(key)]).toEqual([201, ['paid']]);
  });

  it('a success after an outer retry carries nothing of the refusal that the first try ended in', async () => {
    const key = randomUUID();
    timeUp = gate().passed;
    const work: Work = async (manager, run) => {
      if (app.runsOf(key) === 1) await manager.query(`DO $$ BEGIN RAISE 'conflict' USING ERRCODE = '40001'; END $$`);
      await pay(manager, run, 'paid');
      return {};
    };
    const first = await app.attempt(work, key);
    const replay = await app.attempt(work, key);
    expect(app.runsOf(key)).toBe(2);
    for (const { status, headers } of [first, replay]) {
      expect([status, headers.get('Retry-After'), headers.get('Cache-Control')]).toEqual([201, null, null]);
    }
    expect(await app.witness.payments(key)).toEqual(['paid']);
  });

  it('an answer that cannot be written ends its connection, and nothing else', async () => {
    const key = randomUUID();
    breaksEnd = true;
    const lose: Work = async (manager, run) => {
      await pay(manager, run, 'paid');
      await app.witness.rows('UPDATE idempotency_records SET token = gen_random_uuid() WHERE key = $1', key);
      return {};
    };
    await expect(app.attempt(lose, key)).rejects.toThrow();
    breaksEnd = false;
    await eventually('rest', () => app.isPoolAtRest());
    expect(logbook.complaints('An answer could not be written')).toHaveLength(1);
    expect(await app.witness.payments(key)).toEqual([]);
  });
});

describe('routes of one path that differ in their version', () => {
  it('do not share an operation', async () => {
    const key = randomUUID();
    const versions: number[] = [];
    for (const version of ['1', '2', '1']) {
      const { body } = await app.post('/versioned', { key, headers: { 'X-Version': version } });
      versions.push((JSON.parse(body) as { readonly version: number }).version);
    }
    expect(versions).toEqual([1, 2, 1]);
  });
});
