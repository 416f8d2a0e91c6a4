import { randomUUID } from 'node:crypto';
import { Controller, type INestApplication, Injectable, Module, type ModuleMetadata, Post } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import {
  IdempotencyContext,
  idempotencyEntities,
  idempotencyMigrations,
  IdempotencyModule,
  type IdempotencyModuleOptions,
  Idempotent,
  TransactionManager,
} from 'nestjs-idempotency';
import { type DataSource, type DataSourceOptions, EntityManager } from 'typeorm';

import { type Answer, listen, type Logbook } from './listening.js';
import { Payment } from './payment.entity.js';
import { Witness } from './witness.js';

/** What a handler does: given its manager, and the key of its operation to mark its rows with. */
export type Work = (manager: EntityManager, run: string) => unknown;

/** Which work belongs to which key, and how often each has begun. */
@Injectable()
export class Assignments {
  private readonly works = new Map<string, Work>();
  private readonly runs = new Map<string, number>();

  assign(key: string, work: Work): void {
    this.works.set(key, work);
  }

  runsOf(key: string): number {
    return this.runs.get(key) ?? 0;
  }

  perform(key: string, manager: EntityManager): unknown {
    this.runs.set(key, this.runsOf(key) + 1);
    return this.works.get(key)!(manager, key);
  }
}

@Controller()
class WorkController {
  constructor(
    private readonly assignments: Assignments,
    private readonly context: IdempotencyContext,
  ) {}

  @Post('work')
  @Idempotent()
  work(@TransactionManager() manager: EntityManager): unknown {
    return this.assignments.perform(this.context.operation!.key, manager);
  }
}

export interface WorkAppOptions {
  /** Where the witness looks. */
  readonly url: string;
  /** Where the application connects, if not there. */
  readonly appUrl?: string;
  readonly idempotency?: Partial<IdempotencyModuleOptions>;
  readonly typeorm?: { readonly [Option in string]: unknown };
  readonly module?: ModuleMetadata;
  readonly logbook?: Logbook;
  readonly configure?: (app: INestApplication) => void;
}

/** The options of a data source with the library's tables and the business table. */
export function dataSourceOptions(url: string, extra: WorkAppOptions['typeorm'] = {}): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    entities: [Payment, ...idempotencyEntities],
    migrations: idempotencyMigrations,
    ...extra,
  };
}

/** Creates the business tables, and the library's by its migration. */
export async function prepareDatabase(url: string): Promise<void> {
  const { DataSource } = await import('typeorm');
  const witness = await Witness.of(url);
  await witness.createBusinessTables();
  await witness.close();
  const dataSource = await new DataSource(dataSourceOptions(url)).initialize();
  await dataSource.runMigrations();
  await dataSource.destroy();
}

/** An application with one idempotent route, whose work each test brings along. */
export async function startWorkApp(options: WorkAppOptions) {
  const { url, appUrl = url, idempotency, typeorm, module = {}, logbook, configure } = options;

  @Module({
    ...module,
    imports: [
      TypeOrmModule.forRoot({ ...dataSourceOptions(appUrl, typeorm), retryAttempts: 0 }),
      IdempotencyModule.forRoot({ singleTenant: true, ...idempotency }),
      ...(module.imports ?? []),
    ],
    controllers: [WorkController, ...(module.controllers ?? [])],
    providers: [Assignments, ...(module.providers ?? [])],
  })
  class WorkModule {}

  const witness = await Witness.of(url);
  const { app, port, post } = await listen(WorkModule, {
    ...(logbook && { logbook }),
    ...(configure && { configure }),
  }).catch(async (error: unknown) => {
    await witness.close();
    throw error;
  });
  const assignments = app.get(Assignments);
  const dataSource = app.get<DataSource>(getDataSourceToken());

  return {
    app,
    port,
    post,
    witness,
    dataSource,

    /** Sends a request that has this work done. */
    attempt(work: Work, key: string = randomUUID(), path = '/work'): Promise<Answer> {
      assignments.assign(key, work);
      return post(path, { key });
    },

    runsOf: (key: string): number => assignments.runsOf(key),

    /** Every connection of the pool is back in it, and nobody waits for one. */
    isPoolAtRest(): boolean {
      const { totalCount, idleCount, waitingCount } = poolOf(dataSource);
      return totalCount === idleCount && waitingCount === 0;
    },

    async stop(): Promise<void> {
      await app.close();
      await witness.close();
    },
  };
}

export type WorkApp = Awaited<ReturnType<typeof startWorkApp>>;

interface Pool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** The pool of `pg` under a data source. */
export function poolOf(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { readonly master: Pool }).master;
}

/** Writes one payment. */
export function pay(manager: EntityManager, run: string, label: string): Promise<unknown> {
  return manager.query('INSERT INTO payments (run, label) VALUES ($1, $2)', [run, label]);
}
