import type { ServerResponse } from 'node:http';
import { Body, Controller, Get, Inject, Injectable, Module, Param, Post, Res } from '@nestjs/common';
import { InjectDataSource, TypeOrmModule } from '@nestjs/typeorm';
import {
  IdempotencyContext,
  IdempotencyModule,
  IdempotencyService,
  Idempotent,
  type IdempotentOperation,
  Operation,
  TransactionManager,
} from 'nestjs-idempotency';
import { DataSource, EntityManager } from 'typeorm';

import { listen, Logbook } from '../module/listening.js';
import { dataSourceOptions, poolOf } from '../module/work-app.js';
import type { Clerk, Means } from './clerk.js';
import { charge, perform, type Scene, type WorkName } from './works.js';

const CLERK = Symbol('clerk');

const logbook = new Logbook();

/** What is to be done while an answer is settled, until it is. */
let whileSettling: (() => Promise<unknown>) | undefined;

@Injectable()
class Stage {
  private readonly runs = new Map<string, number>();

  constructor(
    private readonly context: IdempotencyContext,
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(CLERK) readonly clerk: Clerk,
  ) {}

  scene(run: string): Omit<Scene, 'manager'> {
    this.runs.set(run, (this.runs.get(run) ?? 0) + 1);
    const pool = poolOf(this.dataSource) as unknown as { query: (sql: string, values: unknown[]) => Promise<unknown> };
    return {
      clerk: this.clerk,
      context: this.context,
      run,
      runs: this.runs.get(run)!,
      elsewhere: (sql, ...values) => pool.query(sql, values),
      afterSeal: (act) => {
        // Begun in the handler's time, so that it belongs to it.
        const over = new Promise<void>((resolve) => (whileSettling = () => (resolve(), done)));
        const done = over.then(act).catch((error: unknown) => logbook.warn(`Too late: ${String(error)}`));
      },
    };
  }
}

@Controller()
class JoiningController {
  constructor(
    private readonly stage: Stage,
    private readonly context: IdempotencyContext,
    private readonly service: IdempotencyService,
  ) {}

  @Post('lease/:work')
  @Idempotent()
  lease(@Param('work') work: WorkName, @TransactionManager() manager: EntityManager): unknown {
    return this.perform(work, manager);
  }

  @Post('transaction/:work')
  @Idempotent({ claim: 'transaction' })
  transaction(@Param('work') work: WorkName, @TransactionManager() manager: EntityManager): unknown {
    return this.perform(work, manager);
  }

  @Post('patient/:work')
  @Idempotent({ conflictRetries: 2 })
  patient(@Param('work') work: WorkName, @TransactionManager() manager: EntityManager): unknown {
    return this.perform(work, manager);
  }

  @Post('optional/:work')
  @Idempotent({ required: false })
  optional(
    @Param('work') work: WorkName,
    @Body('run') run: string,
    @TransactionManager() manager: EntityManager,
  ): unknown {
    return this.perform(work, manager, run);
  }

  @Post('by-hand/:work')
  @Idempotent()
  async byHand(
    @Param('work') work: WorkName,
    @TransactionManager() manager: EntityManager,
    @Res() response: ServerResponse,
  ): Promise<void> {
    await this.perform(work, manager);
    response.end('written by hand');
  }

  @Post('charges')
  @Idempotent({ transaction: 'manual' })
  charge(@Operation() operation: IdempotentOperation): unknown {
    return charge(operation, this.stage.scene(operation.key));
  }

  @Post('jobs/:work')
  async job(@Param('work') work: WorkName, @Body('run') key: string): Promise<unknown> {
    return this.service.run({ endpoint: 'jobs', key, payload: {} }, ({ manager }) => this.perform(work, manager));
  }

  @Post('messages/:work')
  async message(@Param('work') work: WorkName, @Body('run') key: string): Promise<unknown> {
    const message = { endpoint: 'messages', key, payload: {} };
    const { kind } = await this.service.consume(message, ({ manager }) => this.perform(work, manager));
    return { kind };
  }

  @Get('warnings')
  warnings(): string[] {
    return logbook.complaints();
  }

  private perform(work: WorkName, manager: EntityManager, run = this.context.operation!.key): unknown {
    return perform(work, { ...this.stage.scene(run), manager });
  }
}

/** Starts an application whose services manage their transactions by `means`; resolves to its port. */
export async function startJoiningApp(url: string, { clerk, imports, joinedBy, openDataSource }: Means) {
  @Module({
    imports: [
      TypeOrmModule.forRootAsync({
        useFactory: () => ({ ...dataSourceOptions(url, { poolSize: 4 }), retryAttempts: 0 }),
        dataSourceFactory: (options) => Promise.resolve(openDataSource(options!)),
      }),
      ...imports,
      IdempotencyModule.forRoot({
        singleTenant: true,
        providerKeySecret: 'the secret of the tests',
        strayWrites: 'warn',
        joinedBy,
        // Called when the work is sealed, before it is recorded.
        protect: {
          seal: async (sealed) => {
            await whileSettling?.();
            whileSettling = undefined;
            return { keyId: 'none', sealed };
          },
          open: ({ sealed }) => sealed,
        },
      }),
    ],
    controllers: [JoiningController],
    providers: [Stage, { provide: CLERK, useClass: clerk }],
  })
  class JoiningModule {}

  return (await listen(JoiningModule, { logbook })).port;
}
