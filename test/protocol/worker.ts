import { idempotencyEntities, idempotencyMigrations } from 'nestjs-idempotency';
import { DataSource, type EntityManager } from 'typeorm';
import { Executor } from '../../libs/idempotency/src/core/executor.js';
import type { Lease, LeaseKeeper, Report } from '../../libs/idempotency/src/core/ports.js';
import { LeaseRenewer } from '../../libs/idempotency/src/maintenance/lease-renewer.js';
import { PostgresRenewal } from '../../libs/idempotency/src/storage/postgres-renewal.js';
import { PostgresStore } from '../../libs/idempotency/src/storage/postgres-store.js';
import { watchable } from './statement-watch.js';

/** What a process of an application has of the library: its pool, its executor and its renewals. */
export interface Worker {
  readonly store: PostgresStore;
  /** Renews what it is given to keep, from time to time. */
  readonly leases: LeaseKeeper;
  readonly executor: Executor<EntityManager>;
  /** An executor whose leases pass by somebody else first. */
  executorWith(leases: LeaseKeeper): Executor<EntityManager>;
  stop(): Promise<void>;
}

export interface WorkerOptions {
  readonly url: string;
  readonly poolSize?: number;
  /** Whether the driver sends a statement before the last one is answered. */
  readonly isPipelined?: boolean;
  /** How often the leases are looked at, in milliseconds. */
  readonly tickMs?: number;
  /** For how long a lease is renewed in all, in milliseconds. */
  readonly renewForMs?: number;
  readonly acquireTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
  readonly report?: Report;
  /** Told of each renewal that was answered. */
  readonly onRenewal?: (isOurs: boolean) => void;
}

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { url, poolSize = 4, isPipelined = false, tickMs = 1_000, renewForMs = 60_000, onRenewal } = options;
  const { acquireTimeoutMs = 10_000, statementTimeoutMs = 15_000, report = ignore } = options;
  const dataSource = await new DataSource({
    type: 'postgres',
    url,
    applicationName: 'worker',
    poolSize,
    extra: { pipeline: isPipelined },
    entities: idempotencyEntities,
  }).initialize();
  watchable(dataSource);

  const renewal = new PostgresRenewal(dataSource, 5_000);
  const answered = async (lease: Lease): Promise<boolean> => {
    const isOurs = await renewal.renew(lease);
    onRenewal?.(isOurs);
    return isOurs;
  };
  const renewer = new LeaseRenewer({ renew: answered }, renewForMs, report);
  const timer = setInterval(() => void renewer.renewDue(), tickMs);
  const store = new PostgresStore(
    dataSource,
    { acquireTimeoutMs, statementTimeoutMs, areStatementsPrepared: true },
    report,
  );
  return {
    store,
    leases: renewer,
    executor: new Executor(store, renewer, report),
    executorWith: (leases) => new Executor(store, leases, report),
    stop: async () => {
      clearInterval(timer);
      await renewal.close();
      await dataSource.destroy();
    },
  };
}

/**
 * The library's tables, and `effects`: what work leaves behind. Nothing in it keeps an operation from having two, so
 * that a second one is there to be seen. `turns` is for work that gets in other work's way.
 */
export async function createTables(url: string): Promise<void> {
  const dataSource = await new DataSource({
    type: 'postgres',
    url,
    entities: idempotencyEntities,
    migrations: idempotencyMigrations,
  }).initialize();
  try {
    await dataSource.runMigrations();
    await dataSource.query(`CREATE TABLE effects (key text NOT NULL, execution text NOT NULL, part integer NOT NULL)`);
    await dataSource.query('CREATE TABLE turns AS SELECT id, 0 AS taken FROM generate_series(0, 3) AS id');
  } finally {
    await dataSource.destroy();
  }
}

function ignore(): void {
  // What a test is about it looks up in the tables.
}
