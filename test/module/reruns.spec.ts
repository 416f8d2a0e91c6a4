import { randomUUID } from 'node:crypto';

import {
  Body,
  type CallHandler,
  Controller,
  HostParam,
  type INestApplication,
  Injectable,
  type NestInterceptor,
  type PipeTransform,
  Post,
  Res,
  UnprocessableEntityException,
  UseInterceptors,
  VersioningType,
} from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { IdempotencyContext, Idempotent, TransactionManager } from 'nestjs-idempotency';
import { type Observable, retry } from 'rxjs';
import type { EntityManager } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { exchange, responsesIn } from '../wire/socket.js';
import { gate } from './gate.js';
import { pay, prepareDatabase, startWorkApp, type WorkApp } from './work-app.js';

/** Fails as a transaction does that has to give way. */
const giveWay = (manager: EntityManager) =>
  manager.query(`DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$`);

type Run = (entry: number, manager: EntityManager, context: IdempotencyContext) => unknown;

/** What the handlers of the current test do, and how often they were entered. */
const current = { entries: 0, run: (() => undefined) as Run, refusals: 0 };

@Injectable()
class RefusesTheSecond implements PipeTransform {
  transform(value: unknown): unknown {
    current.refusals++;
    if (current.refusals === 2) throw new UnprocessableEntityException('Not this time.');
    return value;
  }
}

/** Stands inside the library's interceptor, as those of a method do. */
@Injectable()
class Retrying implements NestInterceptor {
  intercept(_: unknown, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(retry(1));
  }
}

@Controller()
class RerunController {
  constructor(private readonly context: IdempotencyContext) {}

  @Post('rerun')
  @Idempotent({ conflictRetries: 2 })
  rerun(@TransactionManager() manager: EntityManager): unknown {
    return current.run(++current.entries, manager, this.context);
  }

  @Post('changing')
  @Idempotent({ conflictRetries: 2 })
  async change(@Body() body: { amount: number; lines: string[] }, @TransactionManager() manager: EntityManager) {
    body.amount += 100;
    body.lines.push('fee');
    if (++current.entries === 1) await giveWay(manager);
    return body;
  }

  @Post('piped')
  @Idempotent({ conflictRetries: 2 })
  async piped(@Body(RefusesTheSecond) _: unknown, @TransactionManager() manager: EntityManager): Promise<void> {
    if (++current.entries === 1) await giveWay(manager);
  }

  @Post('twice')
  @Idempotent()
  @UseInterceptors(Retrying)
  async twice(@TransactionManager() manager: EntityManager): Promise<void> {
    await pay(manager, this.context.operation!.key, `entry ${++current.entries}`);
    if (current.entries === 1) throw new Error('Not this time.');
  }

  @Post('reason')
  @Idempotent({ conflictRetries: 2 })
  async reason(
    @Res({ passthrough: true }) response: { statusMessage: string },
    @TransactionManager() manager: EntityManager,
  ): Promise<void> {
    if (++current.entries > 1) return;
    response.statusMessage = 'Failed try';
    await giveWay(manager);
  }
}

abstract class Base {
  abstract readonly name: string;

  @Post()
  @Idempotent()
  pay(): unknown {
    return { by: this.name };
  }
}

@Controller({ path: 'inherited', version: '1' })
class One extends Base {
  readonly name = 'one';
}

@Controller({ path: 'inherited', version: '2' })
class Two extends Base {
  readonly name = 'two';
}

@Controller({ path: 'hosted', host: ':account.example.test' })
class Hosted {
  @Post()
  @Idempotent()
  pay(@HostParam('account') account: string): unknown {
    return { account };
  }
}

let database: TestDatabase;
let app: WorkApp;
let key: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  app = await startWorkApp({
    url: database.url,
    module: { controllers: [RerunController, One, Two, Hosted] },
    configure: (nest: INestApplication) => void nest.enableVersioning({ type: VersioningType.HEADER, header: 'V' }),
  });
});

afterAll(async () => {
  await app?.stop();
  await database?.drop();
});

beforeEach(() => {
  key = randomUUID();
  Object.assign(current, { entries: 0, refusals: 0, run: () => undefined });
});

describe('a handler that is run again after a conflict', () => {
  it('leaves nothing of its failed run behind, and lets nothing of it in afterwards', async () => {
    const [secondRuns, straggled] = [gate(), gate()];
    const callbacks: string[] = [];
    let straggling: Promise<unknown> = Promise.resolve();
    current.run = async (entry, manager, context) => {
      const label = `run ${entry}`;
      if (entry === 1) {
        straggling = secondRuns.passed.then(async () => {
          expect(() => context.afterCommit(() => callbacks.push(label))).toThrow(/is over/);
          await expect(pay(context.manager, key, label)).rejects.toThrow(/released|over/);
        });
        void straggling.catch(() => undefined).then(() => straggled.open());
        context.afterCommit(() => callbacks.push(label));
        await giveWay(manager);
      }
      secondRuns.open();
      await straggled.passed;
      context.afterCommit(() => callbacks.push(label));
      return pay(context.manager, key, label);
    };
    expect((await app.post('/rerun', { key })).status).toBe(201);
    await straggling;
    expect(await app.witness.payments(key)).toEqual(['run 2']);
    expect(callbacks).toEqual(['run 2']);
  });

  it('is given what its request said, whatever its failed run made of it', async () => {
    const answer = await app.post('/changing', { key, body: { amount: 1000, lines: [] } });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([201, { amount: 1100, lines: ['fee'] }]);
    expect(current.entries).toBe(2);
  });

  it('does not make a refusal for good of one that comes before it is entered again', async () => {
    expect((await app.post('/piped', { key })).status).toBe(422);
    expect(await app.witness.rows('SELECT FROM idempotency_records WHERE key = $1', key)).toEqual([]);
    expect((await app.post('/piped', { key })).status).toBe(201);
  });

  it('does not answer with the reason phrase of its failed run', async () => {
    const response = await fetch(`http://localhost:${app.port}/reason`, {
      method: 'POST',
      headers: { 'Idempotency-Key': key },
    });
    expect([response.status, response.statusText, current.entries]).toEqual([201, 'Created', 2]);
  });
});

describe('a handler that an interceptor inside the library runs again', () => {
  it('does not add to what its failed run has written: nothing is committed, and the retry runs', async () => {
    const answer = await app.post('/twice', { key });
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([500, 'idempotency-work-broken']);
    expect(await app.witness.payments(key)).toEqual([]);
    expect((await app.post('/twice', { key })).status).toBe(201);
    expect(await app.witness.payments(key)).toEqual(['entry 2']);
  });
});

describe('an endpoint', () => {
  it('is its own, also where its handler is inherited', async () => {
    const post = async (version: string) => app.post('/inherited', { key, headers: { V: version } });
    expect((await post('1')).body).toBe('{"by":"one"}');
    expect((await post('2')).body).toBe('{"by":"two"}');
    expect((await post('1')).headers.get('Idempotent-Replayed')).toBe('true');
  });

  it('tells hosts apart that its handler is given', async () => {
    const post = async (account: string): Promise<unknown> => {
      const lines = ['POST /hosted HTTP/1.1', `Host: ${account}.example.test`, `Idempotency-Key: ${key}`];
      const bytes = `${[...lines, 'Content-Length: 0', 'Connection: close'].join('\r\n')}\r\n\r\n`;
      return responsesIn(await exchange(app.port, bytes))[0]!.json();
    };
    expect(await post('alice')).toEqual({ account: 'alice' });
    expect(await post('bob')).toMatchObject({ status: 422, code: 'idempotency-key-reused' });
  });
});
