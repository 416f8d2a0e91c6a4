import { setTimeout as pause } from 'node:timers/promises';

import type { DataSource, Migration, QueryRunner } from 'typeorm';

import { openOwnConnection } from './own-connection.js';

/** How `DataSource.runMigrations()` is called. */
export type MigrationOptions = NonNullable<Parameters<DataSource['runMigrations']>[0]>;

const PAUSE_MS = 100;

/**
 * Runs the pending migrations of a data source, all of them and not the library's alone, in one process at a time.
 *
 * TypeORM itself takes no lock: of several processes that start together, each would run what is pending. Here the others
 * wait, for as long as it takes, and find it done. The lock belongs to a transaction on a connection of its own: it
 * ends with the process, works behind a pooler in transaction mode, and does not stand in the way of an index that is
 * made concurrently.
 *
 * Each migration has a transaction of its own, unless the options or those of the data source say otherwise: a lock on a
 * table that is in use must not be kept until the last of them is done.
 *
 * @param dataSource initialized, and without `migrationsRun`, which would run them before.
 * @returns those that this process has run.
 */
export async function migrateOnce(dataSource: DataSource, options?: MigrationOptions): Promise<Migration[]> {
  const own = await openOwnConnection(dataSource);
  const runner = own.createQueryRunner('master');
  try {
    while (!(await isGranted(runner))) await pause(PAUSE_MS);
    const transaction = dataSource.options.migrationsTransactionMode ?? 'each';
    return await dataSource.runMigrations({ transaction, ...options });
  } finally {
    // With the connection the transaction ends, and with that the lock.
    await own.destroy();
  }
}

/** Asks in a transaction that lasts only if it gets the lock: whoever waits holds no snapshot. */
async function isGranted(runner: QueryRunner): Promise<boolean> {
  await runner.startTransaction('READ COMMITTED');
  const [row] = (await runner.query(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('nestjs-idempotency: migrations', 0)) AS granted,
       set_config('idle_in_transaction_session_timeout', '0', true)`,
  )) as { granted: boolean }[];
  if (!row!.granted) await runner.rollbackTransaction();
  return row!.granted;
}
