import { randomUUID } from 'node:crypto';
import { Controller, Injectable, Module, Param, Post } from '@nestjs/common';
import { InjectDataSource, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  IdempotencyContext,
  IdempotencyModule,
  type IdempotencyModuleAsyncOptions,
  type IdempotencyModuleOptions,
  Idempotent,
  TransactionManager,
} from 'nestjs-idempotency';
import { DataSource, EntityManager, type Repository } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { listen, type Listening, Logbook } from './listening.js';
import { Payment } from './payment.entity.js';
import { dataSourceOptions, pay, prepareDatabase } from './work-app.js';
import { Witness } from './witness.js';

jest.setTimeout(60_000);

@Controller('payments')
class PaymentsController {
  constructor(
    @InjectDataSource('ledger') private readonly ledger: DataSource,
    @InjectDataSource('audit') private readonly audit: DataSource,
    @InjectRepository(Payment, 'ledger') private readonly injected: Repository<Payment>,
    private readonly context: IdempotencyContext,
  ) {}

  @Post(':run/:how')
  @Idempotent()
  async create(
    @Param('run') run: string,
    @Param('how') how: string,
    @TransactionManager() manager: EntityManager,
  ): Promise<object> {
    await pay(manager, run, 'inside');
    if (how === 'repository') await this.injected.update({ run }, { amount: 2 });
    if (how === 'other') await this.audit.query('INSERT INTO payments (run, label) VALUES ($1, $2)', [run, 'audit']);
    if (how === 'delete') await this.ledger.manager.delete(Payment, { run: 'nobody' });
    if (how === 'cte') {
      await this.ledger.query(
        `WITH gone AS (DELETE FROM payments WHERE run = 'nobody' RETURNING id) SELECT * FROM gone`,
      );
    }
    if (how === 'after') {
      this.context.afterCommit(() => this.injected.insert({ run, label: 'after' }));
    }
    if (how === 'failing') throw new Error('failed');
    return {};
  }
}

@Injectable()
class Accounts {
  readonly current = 'acme';
}

@Module({ providers: [Accounts], exports: [Accounts] })
class AccountsModule {}

let ledger: TestDatabase;
let audit: TestDatabase;
let witness: Witness;
let auditWitness: Witness;
let running: Listening | undefined;
let logbook: Logbook;

beforeAll(async () => {
  ledger = await createTestDatabase();
  audit = await createTestDatabase();
  await prepareDatabase(ledger.url);
  witness = await Witness.of(ledger.url);
  auditWitness = await Witness.of(audit.url);
  // The second database has the business table, and nothing of the library.
  await auditWitness.createBusinessTables();
});

afterEach(async () => {
  await running?.app.close();
  running = undefined;
});

afterAll(async () => {
  await witness?.close();
  await auditWitness?.close();
  await ledger?.drop();
  await audit?.drop();
});

async function startWith(
  idempotency: { sync: IdempotencyModuleOptions } | { async: IdempotencyModuleAsyncOptions },
): Promise<Listening> {
  logbook = new Logbook();
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...dataSourceOptions(ledger.url), name: 'ledger', retryAttempts: 0 }),
      TypeOrmModule.forRoot({
        ...dataSourceOptions(audit.url, { entities: [Payment] }),
        name: 'audit',
        retryAttempts: 0,
      }),
      TypeOrmModule.forFeature([Payment], 'ledger'),
      'sync' in idempotency
        ? IdempotencyModule.forRoot(idempotency.sync)
        : IdempotencyModule.forRootAsync(idempotency.async),
    ],
    controllers: [PaymentsController],
  })
  class Root {}
  return (running = await listen(Root, { logbook }));
}

const options = { singleTenant: true, dataSource: 'ledger' } as const;

const warnings = () => logbook.complaints('outside its idempotent transaction');

describe('a named data source', () => {
  it('holds the records, and the work', async () => {
    const { post } = await startWith({ sync: options });
    const [run, key] = [randomUUID(), randomUUID()];
    const first = await post(`/payments/${run}/inside`, { key });
    const second = await post(`/payments/${run}/inside`, { key });
    expect([first.status, second.status, second.headers.get('Idempotent-Replayed')]).toEqual([201, 201, 'true']);
    expect(await witness.payments(run)).toEqual(['inside']);
    expect(warnings()).toEqual([]);
  });
});

describe('forRootAsync', () => {
  it('takes its options from other providers', async () => {
    const { post } = await startWith({
      async: {
        imports: [AccountsModule],
        inject: [Accounts],
        dataSource: 'ledger',
        useFactory: (accounts: Accounts) => ({
          tenant: () => Promise.resolve(accounts.current),
          header: 'X-Request-Key',
          retention: '48h',
        }),
      },
    });
    const missing = await post(`/payments/${randomUUID()}/inside`, { key: randomUUID() });
    expect([missing.status, missing.body]).toEqual([400, expect.stringContaining('X-Request-Key')]);
    const [run, key] = [randomUUID(), randomUUID()];
    const response = await fetch(`http://localhost:${running!.port}/payments/${run}/inside`, {
      method: 'POST',
      headers: { 'X-Request-Key': key },
    });
    expect([response.status, await witness.payments(run)]).toEqual([201, ['inside']]);
    const rows = await witness.rows(
      `SELECT tenant, expires_at - created_at = interval '48 hours' AS is_kept FROM idempotency_records WHERE key = $1`,
      key,
    );
    expect(rows).toEqual([{ tenant: 'acme', is_kept: true }]);
  });

  it('refuses to start when its factory fails, and says why', async () => {
    const useFactory = () => Promise.reject(new Error('no configuration'));
    await expect(startWith({ async: { dataSource: 'ledger', useFactory } })).rejects.toThrow('no configuration');
  });

  it('refuses options that cannot be right', async () => {
    await expect(startWith({ async: { dataSource: 'ledger', useFactory: () => ({}) } })).rejects.toThrow(
      'say whose keys are whose',
    );
  });
});

describe('a write past the shared transaction', () => {
  const strays: [string, RegExp][] = [
    ['repository', /UPDATE "payments" SET "amount"/],
    ['other', /INSERT INTO payments \(run, label\)/],
    ['delete', /DELETE FROM "payments"/],
    ['cte', /WITH gone AS \(DELETE FROM payments/],
  ];

  it.each(strays)('is noticed and named in development: %s', async (how, statement) => {
    const { post } = await startWith({ sync: options });
    expect((await post(`/payments/${randomUUID()}/${how}`, { key: randomUUID() })).status).toBe(201);
    expect(warnings()).toEqual([expect.stringMatching(statement)]);
    expect(warnings()[0]).toContain('POST /payments/:run/:how');
    expect(warnings()[0]).toContain('@TransactionManager()');
  });

  it.each(strays)('is not looked for in production: %s', async (how) => {
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = 'production';
    try {
      const { post } = await startWith({ sync: options });
      expect((await post(`/payments/${randomUUID()}/${how}`, { key: randomUUID() })).status).toBe(201);
      expect(warnings()).toEqual([]);
    } finally {
      process.env.NODE_ENV = before;
    }
  });

  it('is not looked for where the options say so, and is where they say so in production', async () => {
    const quiet = await startWith({ sync: { ...options, strayWrites: 'ignore' } });
    await quiet.post(`/payments/${randomUUID()}/other`, { key: randomUUID() });
    expect(warnings()).toEqual([]);
    await quiet.app.close();

    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = 'production';
    try {
      const { post } = await startWith({ sync: { ...options, strayWrites: 'warn' } });
      await post(`/payments/${randomUUID()}/other`, { key: randomUUID() });
      expect(warnings()).toHaveLength(1);
    } finally {
      process.env.NODE_ENV = before;
    }
  });

  it('shows what the warning says: it stays when the work is undone', async () => {
    const { post } = await startWith({ sync: options });
    const run = randomUUID();
    const { status } = await post(`/payments/${run}/failing`, { key: randomUUID() });
    expect([status, await witness.payments(run)]).toEqual([500, []]);
    await post(`/payments/${run}/other`, { key: randomUUID() });
    expect([await witness.payments(run), await auditWitness.payments(run)]).toEqual([['inside'], ['audit']]);
  });

  it('is not one when it is made after the commit', async () => {
    const { post } = await startWith({ sync: options });
    const run = randomUUID();
    expect((await post(`/payments/${run}/after`, { key: randomUUID() })).status).toBe(201);
    await running!.app.close();
    running = undefined;
    expect(await witness.payments(run)).toEqual(['after', 'inside']);
    expect(warnings()).toEqual([]);
  });
});
