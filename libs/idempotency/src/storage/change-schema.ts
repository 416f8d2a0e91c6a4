import { setTimeout as pause } from 'node:timers/promises';

import type { QueryRunner } from 'typeorm';

import { openOwnConnection } from './own-connection.js';
import { LOCK_NOT_AVAILABLE, QUERY_CANCELED, sqlState } from './postgres-errors.js';
import { concurrently, type SchemaChange } from './schema-change.js';
import { dataSourceOf } from './table-names.js';

/** Less than a claim waits for its row: what queues up behind us is served late, and not refused. */
const LOCK_TIMEOUT_MS = 100;
/** Every so often long enough for the server to call off an autovacuum that stands in the way: it does so when it looks for deadlocks. */
const PATIENT_EVERY = 10;
const PAUSE_MS = 250;
const MAX_TURN_MS = 120_000;

export interface Limits {
  /** How often a lock is asked for: by default for about a quarter of a minute. */
  readonly maxTries: number;
  /** Up to which size of its table an index is made in an instant. */
  readonly smallBytes: number;
}

const LIMITS: Limits = { maxTries: 40, smallBytes: 8 * 1024 * 1024 };

type NewIndex = Extract<SchemaChange, { kind: 'index' }>;

/**
 * Makes those of the changes that are not made yet, while the tables are in use.
 *
 * Whether the runner is inside a transaction or not: what is made is made as a whole, by one process at a time, and a
 * lock that is not granted at once is asked for again, since everybody else would queue up behind us.
 *
 * @throws {Error} naming the remedy, where somebody holds a table for longer than that, or an index cannot be made in
 * the transaction at hand.
 */
export async function changeSchema(
  runner: QueryRunner,
  changes: readonly SchemaChange[],
  limits = LIMITS,
): Promise<void> {
  await asOne(runner, async () => {
    await awaitTurn(runner);
    for (const change of changes) {
      if (change.kind === 'index') await makeIndex(runner, change, limits);
      else if (!(await isMade(runner, change))) await makeBriefly(runner, change.table, [change.sql], limits);
    }
  });
}

/** Takes a change back, as briefly as it was made. No version that knows of it may be running any more. */
export async function takeBack(runner: QueryRunner, table: string, sql: string): Promise<void> {
  await asOne(runner, () => makeBriefly(runner, table, [sql], LIMITS));
}

/** A transaction of its own, or a savepoint in the one there is. */
async function asOne(runner: QueryRunner, work: () => Promise<void>): Promise<void> {
  await runner.startTransaction();
  try {
    await work();
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
  await runner.commitTransaction();
}

/**
 * Waits until no other process is changing the tables: two that create one at the same time would fail.
 *
 * It asks instead of waiting: a statement that waits has a snapshot, and an index that is made concurrently waits for
 * all of those.
 */
async function awaitTurn(runner: QueryRunner): Promise<void> {
  for (let waitedMs = 0; waitedMs <= MAX_TURN_MS; waitedMs += PAUSE_MS) {
    const [row] = (await runner.query(
      `SELECT pg_try_advisory_xact_lock(hashtextextended('nestjs-idempotency: change of the tables', 0)) AS granted`,
    )) as { granted: boolean }[];
    if (row!.granted) return;
    await pause(PAUSE_MS);
  }
  throw new Error(
    'Another process has been changing the idempotency tables for two minutes. Run the migrations again when it is done.',
  );
}

async function isMade(runner: QueryRunner, change: Exclude<SchemaChange, NewIndex>): Promise<boolean> {
  const found = (await runner.query(
    `SELECT to_regclass($1) IS NOT NULL AND ($2::text IS NULL OR EXISTS (
       SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = (parse_ident($2))[1]::name AND NOT attisdropped)) AS is_made`,
    [change.table, change.kind === 'column' ? change.column : null],
  )) as { is_made: boolean }[];
  return found[0]!.is_made;
}

/** Asks for the lock again and again, each time for so short that nobody minds. */
async function makeBriefly(
  runner: QueryRunner,
  table: string,
  statements: readonly string[],
  { maxTries }: Limits,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await asOne(runner, async () => {
        const timeout = attempt % PATIENT_EVERY === 0 ? PATIENT_TIMEOUT : `'${LOCK_TIMEOUT_MS}ms'`;
        await underSetting(runner, 'lock_timeout', timeout, async () => {
          for (const statement of statements) await runner.query(statement);
        });
      });
      return;
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
      if (attempt === maxTries) throw await inUse(runner, table, error);
    }
    await pause(PAUSE_MS);
  }
}

const PATIENT_TIMEOUT = `(SELECT setting::integer + ${LOCK_TIMEOUT_MS} FROM pg_settings WHERE name = 'deadlock_timeout')::text`;

async function inUse(runner: QueryRunner, table: string, cause: unknown): Promise<Error> {
  const rows = (await runner.query(
    `SELECT DISTINCT pid FROM pg_locks WHERE relation = to_regclass($1) AND granted AND pid <> pg_backend_pid() ORDER BY pid`,
    [table],
  )) as { pid: number }[];
  const holders = rows.map(({ pid }) => pid).join(', ');
  return new Error(
    `The table ${table} could not be changed: a transaction that goes on for long is using it` +
      `${holders && ` (server process ${holders}; pg_stat_activity tells whose)`}. ` +
      'Nothing was changed. Run the migrations again when no backup, report or forgotten transaction has it.',
    { cause },
  );
}

/** An index that was left half made, by a process that died, is made again. */
async function makeIndex(runner: QueryRunner, { table, index, sql }: NewIndex, limits: Limits): Promise<void> {
  const [found] = (await runner.query(
    `SELECT i.indexrelid::regclass::text AS name, i.indisvalid AS is_valid
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = to_regclass($1) AND c.relname = (parse_ident($2))[1]::name`,
    [table, index],
  )) as { name: string; is_valid: boolean }[];
  if (found?.is_valid) return;
  const [state] = (await runner.query(
    `SELECT pg_relation_size(to_regclass($1)) <= $2 AS is_small,
       current_setting('transaction_isolation') = 'read committed' AND NOT EXISTS (
         SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND relation = to_regclass($1)
         AND mode NOT IN ('AccessShareLock', 'RowShareLock')) AS is_free`,
    [table, limits.smallBytes],
  )) as { is_small: boolean; is_free: boolean }[];
  if (state!.is_small) {
    await makeBriefly(runner, table, [...(found ? [`DROP INDEX ${found.name}`] : []), sql], limits);
  } else if (state!.is_free) {
    await makeBeside(runner, [...(found ? [`DROP INDEX CONCURRENTLY ${found.name}`] : []), concurrently(sql)]).catch(
      (error: unknown) => {
        throw isCutShort(error) ? cutShort(index, concurrently(sql), error) : error;
      },
    );
  } else {
    throw new Error(
      `The index ${index} cannot be made on ${table} in this transaction: the table is large, and nobody could write to it meanwhile. ` +
        'Run each migration in a transaction of its own, at READ COMMITTED: ' +
        "`migrationsTransactionMode: 'each'` in the data source's options, or `typeorm migration:run --transaction each`.",
    );
  }
}

/** By a limit that the role or the database has for statements; a setting of ours could outlive us in a pooler. */
function isCutShort(error: unknown): boolean {
  const state = sqlState(error);
  return state === QUERY_CANCELED || state === LOCK_NOT_AVAILABLE;
}

function cutShort(index: string, sql: string, cause: unknown): Error {
  return new Error(
    `The index ${index} takes longer to make than this role may wait: its statement_timeout or lock_timeout ended it. ` +
      'Run the migrations as a role without them; or drop what is left of the index, make it by hand ' +
      `(SET statement_timeout = 0; SET lock_timeout = 0; ${sql}), and run the migrations again.`,
    { cause },
  );
}

/** Those that an application gives its connections are not meant for this. */
const NO_LIMITS = { statement_timeout: 0, query_timeout: 0, lock_timeout: 0 };

/** On a connection that is in no transaction. Ours has to stay open meanwhile: it keeps other processes away. */
async function makeBeside(runner: QueryRunner, statements: readonly string[]): Promise<void> {
  await underSetting(runner, 'idle_in_transaction_session_timeout', `'0'`, async () => {
    const beside = await openOwnConnection(dataSourceOf(runner), NO_LIMITS);
    try {
      for (const statement of statements) await beside.query(statement);
    } finally {
      await beside.destroy();
    }
  });
}

/** Does something with a setting of the transaction at hand changed, by an expression; where it fails, the transaction has failed. */
async function underSetting(
  runner: QueryRunner,
  name: string,
  value: string,
  work: () => Promise<void>,
): Promise<void> {
  const [row] = (await runner.query(`SELECT current_setting('${name}') AS before`)) as { before: string }[];
  await runner.query(`SELECT set_config('${name}', ${value}, true)`);
  await work();
  await runner.query(`SELECT set_config('${name}', $1, true)`, [row!.before]);
}
