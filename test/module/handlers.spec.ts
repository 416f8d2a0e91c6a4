import { randomUUID } from 'node:crypto';
import {
  BadRequestException,
  Body,
  ConflictException,
  Controller,
  Get,
  Injectable,
  Param,
  Patch,
  Post,
  Put,
  Res,
  ValidationPipe,
} from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IsInt } from 'class-validator';
import type { Response } from 'express';
import { IdempotencyContext, Idempotent, TransactionManager } from 'nestjs-idempotency';
import { EntityManager, type Repository } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from './gate.js';
import { Logbook } from './listening.js';
import { Payment } from './payment.entity.js';
import { pay, prepareDatabase, startWorkApp, type WorkApp } from './work-app.js';

jest.setTimeout(60_000);

class Amount {
  @IsInt()
  amount!: number;
}

/** What callbacks saw, in order. */
const seen: unknown[] = [];

@Injectable()
class PaymentsService {
  constructor(
    private readonly context: IdempotencyContext,
    @InjectRepository(Payment) readonly injected: Repository<Payment>,
  ) {}

  /** Writes through the context alone. */
  async pay(run: string): Promise<object> {
    const { manager, operation, signal, isActive } = this.context;
    await manager.insert(Payment, { run, label: 'paid' });
    return { operation, isAborted: signal.aborted, isActive };
  }

  notice(what: string, run: string): void {
    this.context.afterCommit(async () => {
      const payments = await app.witness.payments(run);
      seen.push([what, payments]);
    });
  }

  fail(how: 'at once' | 'later'): void {
    this.context.afterCommit(() => {
      if (how === 'at once') throw new Error(`the callback failed ${how}`);
      return Promise.reject(new Error(`the callback failed ${how}`));
    });
  }
}

@Controller('handlers')
class HandlersController {
  constructor(private readonly payments: PaymentsService) {}

  @Post('context/:run')
  @Idempotent()
  context(@Param('run') run: string): Promise<object> {
    return this.payments.pay(run);
  }

  @Post('validated/:run')
  @Idempotent()
  async validated(
    @Param('run') run: string,
    @Body() { amount }: Amount,
    @TransactionManager() manager: EntityManager,
  ): Promise<object> {
    await manager.insert(Payment, { run, label: 'paid', amount });
    return { isManager: manager instanceof EntityManager };
  }

  @Post('noticed/:run')
  @Idempotent()
  async noticed(@Param('run') run: string, @Body('end') end: string): Promise<object> {
    this.payments.notice('first', run);
    await this.payments.pay(run);
    this.payments.notice('second', run);
    if (end === 'refuse') throw new ConflictException();
    if (end === 'fail') throw new Error('failed');
    if (end === 'lose') await app.witness.rows('UPDATE idempotency_records SET token = gen_random_uuid()');
    return {};
  }

  @Post('failing-callback/:run/:how')
  @Idempotent()
  async failingCallback(@Param('run') run: string, @Param('how') how: 'at once' | 'later'): Promise<object> {
    this.payments.fail(how);
    this.payments.notice('after the failing one', run);
    await this.payments.pay(run);
    return {};
  }

  @Post('optional/:run')
  @Idempotent({ required: false })
  async optional(
    @Param('run') run: string,
    @Body('end') end: string,
    @TransactionManager() manager: EntityManager,
  ): Promise<object> {
    this.payments.notice('optional', run);
    const result = await this.payments.pay(run).catch(() => ({}));
    await pay(manager, run, `${end || 'well'} ${randomUUID()}`);
    if (end === 'fail') throw new BadRequestException();
    return result;
  }

  @Post('stray/:run')
  @Idempotent()
  async stray(@Param('run') run: string, @TransactionManager() manager: EntityManager): Promise<object> {
    await pay(manager, run, 'inside');
    await this.payments.injected.find({ where: { run } });
    await this.payments.injected.insert({ run, label: 'stray' });
    return {};
  }

  @Post('written/:run')
  @Idempotent()
  async written(@Param('run') run: string, @Res() response: Response): Promise<void> {
    await this.payments.pay(run);
    response.status(202).json({ written: true });
  }
}

@Controller('whole')
@Idempotent({ retention: '7d' })
class WholeController {
  @Get()
  list(): string {
    return 'listed';
  }

  @Post(':run')
  async create(@Param('run') run: string, @TransactionManager() manager: EntityManager): Promise<object> {
    await pay(manager, run, `created ${randomUUID()}`);
    return {};
  }

  @Put(':run')
  async replace(@Param('run') run: string, @TransactionManager() manager: EntityManager): Promise<object> {
    await pay(manager, run, `replaced ${randomUUID()}`);
    return {};
  }

  @Patch(':run')
  @Idempotent({ required: false })
  async change(@Param('run') run: string, @TransactionManager() manager: EntityManager): Promise<object> {
    await pay(manager, run, `changed ${randomUUID()}`);
    return {};
  }
}

let database: TestDatabase;
let app: WorkApp;
const logbook = new Logbook();

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  app = await startWorkApp({
    url: database.url,
    logbook,
    module: {
      imports: [TypeOrmModule.forFeature([Payment])],
      controllers: [HandlersController, WholeController],
      providers: [PaymentsService],
    },
    configure: (nest) =>
      nest.useGlobalPipes(new ValidationPipe({ validateCustomDecorators: true, transform: true, whitelist: true })),
  });
});

beforeEach(() => {
  seen.length = 0;
  logbook.lines.length = 0;
});

afterAll(async () => {
  await app?.stop();
  await database?.drop();
});

describe('IdempotencyContext', () => {
  it('gives a service the manager, the operation and the signal', async () => {
    const [run, key] = [randomUUID(), randomUUID()];
    const { status, body } = await app.post(`/handlers/context/${run}`, { key });
    expect(status).toBe(201);
    expect(JSON.parse(body)).toEqual({
      operation: { tenant: '', endpoint: 'POST /handlers/context/:run', key },
      isAborted: false,
      isActive: true,
    });
    expect(await app.witness.payments(run)).toEqual(['paid']);
  });

  it('says so when it is used outside an operation', () => {
    const context = app.app.get(IdempotencyContext);
    expect(context.isActive).toBe(false);
    expect(() => context.manager).toThrow(/outside an idempotent operation.*@Idempotent\(\)/s);
    expect(() => context.afterCommit(() => undefined)).toThrow(/outside an idempotent operation/);
  });

  it('calls back after the commit, in order, and never again for a replay', async () => {
    const [run, key] = [randomUUID(), randomUUID()];
    const answer = await app.post(`/handlers/noticed/${run}`, { key });
    expect(answer.status).toBe(201);
    await eventually('both callbacks are done', () => seen.length === 2);
    expect(seen).toEqual([
      ['first', ['paid']],
      ['second', ['paid']],
    ]);
    const replay = await app.post(`/handlers/noticed/${run}`, { key });
    expect(replay.headers.get('Idempotent-Replayed')).toBe('true');
    expect(seen).toHaveLength(2);
  });

  it.each([
    ['refuse', 409],
    ['fail', 500],
    ['lose', 409],
  ])('does not call back when the work is undone: %s', async (end, expected) => {
    const [run, key] = [randomUUID(), randomUUID()];
    const { status } = await app.post(`/handlers/noticed/${run}`, { key, body: { end } });
    expect(status).toBe(expected);
    expect(await app.witness.payments(run)).toEqual([]);
    // Whatever was going to be called would have been called before the next operation's callbacks.
    await app.post(`/handlers/noticed/${randomUUID()}`, { key: randomUUID() });
    await eventually('the callbacks of the next one are done', () => seen.length >= 2);
    expect(seen).toEqual([
      ['first', ['paid']],
      ['second', ['paid']],
    ]);
  });

  it.each(['at once', 'later'])('reports a callback that fails %s, and neither answer nor work suffer', async (how) => {
    const [run, key] = [randomUUID(), randomUUID()];
    const path = `/handlers/failing-callback/${run}/${encodeURIComponent(how)}`;
    const { status } = await app.post(path, { key });
    expect([status, await app.witness.payments(run)]).toEqual([201, ['paid']]);
    await eventually('the other callback is done', () => seen.length === 1);
    await eventually('the failure is reported', () => logbook.complaints(`the callback failed ${how}`).length > 0);
    expect(
      logbook.complaints(`afterCommit() failed; the work itself is committed. Error: the callback failed ${how}`),
    ).toHaveLength(1);
    const replay = await app.post(path, { key });
    expect([replay.status, replay.headers.get('Idempotent-Replayed')]).toEqual([201, 'true']);
  });
});

describe('@TransactionManager()', () => {
  it('is not taken for a DTO by a ValidationPipe that validates custom decorators', async () => {
    const [run, key] = [randomUUID(), randomUUID()];
    const answer = await app.post(`/handlers/validated/${run}`, { key, body: { amount: 5 } });
    expect([answer.status, answer.body]).toEqual([201, '{"isManager":true}']);
    expect(await app.witness.payments(run)).toEqual(['paid']);
  });

  it('leaves the validation of the real DTO in place, and the key free for the corrected body', async () => {
    const [run, key] = [randomUUID(), randomUUID()];
    const refused = await app.post(`/handlers/validated/${run}`, { key, body: { amount: 'five' } });
    expect(refused.status).toBe(400);
    const corrected = await app.post(`/handlers/validated/${run}`, { key, body: { amount: 5 } });
    expect([corrected.status, await app.witness.payments(run)]).toEqual([201, ['paid']]);
  });
});

describe('required: false', () => {
  it('runs each request without a key in a transaction of its own, and records nothing', async () => {
    const run = randomUUID();
    const { status, body } = await app.post(`/handlers/optional/${run}`);
    expect([status, JSON.parse(body)]).toEqual([201, { operation: null, isAborted: false, isActive: true }]);
    expect(await app.witness.payments(run)).toHaveLength(2);
    await eventually('its callback is done', () => seen.length === 1);
    const records = await app.witness.rows(`SELECT FROM idempotency_records WHERE endpoint LIKE '%optional%'`);
    expect(records).toEqual([]);
  });

  it('undoes everything when the handler fails, and does not call back', async () => {
    const run = randomUUID();
    const { status } = await app.post(`/handlers/optional/${run}`, { body: { end: 'fail' } });
    expect([status, await app.witness.payments(run), seen]).toEqual([400, [], []]);
  });

  it('protects a request that brings a key', async () => {
    const [run, key] = [randomUUID(), randomUUID()];
    const first = await app.post(`/handlers/optional/${run}`, { key });
    const second = await app.post(`/handlers/optional/${run}`, { key });
    expect([first.status, second.status, second.headers.get('Idempotent-Replayed')]).toEqual([201, 201, 'true']);
    expect(await app.witness.payments(run)).toHaveLength(2);
  });

  it('still refuses an empty key', async () => {
    const run = randomUUID();
    const { status, body } = await app.post(`/handlers/optional/${run}`, { key: '' });
    expect([status, JSON.parse(body)]).toEqual([
      400,
      expect.objectContaining({ code: 'idempotency-key-invalid', reason: 'empty' }),
    ]);
    expect(await app.witness.payments(run)).toEqual([]);
  });
});

describe('@Idempotent() on a class', () => {
  const send = async (method: string, run: string, key?: string) =>
    fetch(`http://localhost:${app.port}/whole/${run}`, { method, headers: key ? { 'Idempotency-Key': key } : {} });

  it.each(['POST', 'PUT'])('covers a handler of %s', async (method) => {
    const [run, key] = [randomUUID(), randomUUID()];
    expect((await send(method, run)).status).toBe(400);
    const first = await send(method, run, key);
    const second = await send(method, run, key);
    expect(first.ok && second.headers.get('Idempotent-Replayed')).toBe('true');
    expect(await app.witness.payments(run)).toHaveLength(1);
  });

  it('leaves a decorator of a method its say', async () => {
    const run = randomUUID();
    expect((await send('PATCH', run)).status).toBe(200);
    expect((await send('PATCH', run)).status).toBe(200);
    expect(await app.witness.payments(run)).toHaveLength(2);
  });

  it.each(['GET', 'HEAD'])('leaves %s alone', async (method) => {
    expect((await send(method, '')).status).toBe(200);
    const withKey = await send(method, '', randomUUID());
    expect([withKey.status, withKey.headers.get('Idempotent-Replayed')]).toEqual([200, null]);
  });

  it('gives its options to every handler', async () => {
    const [run, key] = [randomUUID(), randomUUID()];
    await send('POST', run, key);
    const rows = await app.witness.rows(
      `SELECT expires_at - created_at = interval '7 days' AS is_week FROM idempotency_records WHERE key = $1`,
      key,
    );
    expect(rows).toEqual([{ is_week: true }]);
  });
});

describe('a write past the shared transaction', () => {
  it('is noticed once, with its endpoint and its statement, and reads are not', async () => {
    const run = randomUUID();
    for (const key of [randomUUID(), randomUUID()]) await app.post(`/handlers/stray/${run}`, { key });
    const warnings = logbook.complaints('outside its idempotent transaction');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('POST /handlers/stray/:run');
    expect(warnings[0]).toContain('INSERT INTO "payments"');
    expect(warnings[0]).not.toContain(run);
  });

  it('is not suspected of a handler that writes its own response', async () => {
    const [run, key] = [randomUUID(), randomUUID()];
    const { status, body } = await app.post(`/handlers/written/${run}`, { key });
    expect([status, body, await app.witness.payments(run)]).toEqual([202, '{"written":true}', ['paid']]);
    expect(logbook.complaints('outside its idempotent transaction')).toEqual([]);
  });
});
