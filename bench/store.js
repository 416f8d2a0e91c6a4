import { createHash, randomInt, randomUUID } from 'node:crypto';

const TENANTS = 1_000;
const ENDPOINT = 'POST /payments';
const FINGERPRINT = Buffer.alloc(33, 1);
const BODY = Buffer.alloc(200, 'x');

/** What an application has of the library, without the application: none of it is part of the public entry. */
export async function connect(url, { poolSize = 10 } = {}) {
  const { DataSource } = await import('typeorm');
  const { idempotencyEntities, idempotencyMigrations } = await import('nestjs-idempotency');
  const lib = '../libs/idempotency/dist/esm';
  const { Executor } = await import(`${lib}/core/executor.js`);
  const { Pauses } = await import(`${lib}/core/patience.js`);
  const { PostgresStore } = await import(`${lib}/storage/postgres-store.js`);
  const { recordSweeps } = await import(`${lib}/storage/postgres-sweep.js`);
  const { Sweeper } = await import(`${lib}/maintenance/sweeper.js`);
  const dataSource = await new DataSource({
    type: 'postgres',
    url,
    entities: [...idempotencyEntities],
    migrations: [...idempotencyMigrations],
    migrationsRun: true,
    poolSize,
  }).initialize();
  const options = { acquireTimeoutMs: 10_000, statementTimeoutMs: 15_000, areStatementsPrepared: true };
  const report = (message, error) => console.warn(message, error);
  return {
    dataSource,
    executor: new Executor(new PostgresStore(dataSource, options, report), { keep: () => () => undefined }, report),
    sweeper: new Sweeper(recordSweeps(dataSource), 1_000, new Pauses(), report),
  };
}

/** One attempt at an operation, as a route would make it. */
export function attempt(operation, fingerprint = FINGERPRINT) {
  return { operation, fingerprint, strategy: { kind: 'lease' }, leaseMs: 60_000, retentionMs: 86_400_000 };
}

/** Commits what was claimed, with an answer of 200 bytes and no work of its own. */
export async function record(arrival) {
  if (arrival.kind !== 'claimed') throw new Error(`A new operation was not claimed: ${arrival.kind}.`);
  const { execution } = arrival;
  await execution.begin();
  await execution.seal();
  const recording = { status: 201, headers: [], body: BODY, omitted: null, resource: null };
  const fate = await execution.settle({ kind: 'commit', recording });
  if (fate.kind !== 'recorded') throw new Error(`What was done was not recorded: ${fate.kind}.`);
}

/** How many records are made by one statement. */
const CHUNK = 500_000;

/**
 * Fills the table with so many completed records, of a thousand tenants, which expire a millisecond after each other
 * from `firstExpiry` on: an interval from now.
 */
export async function fill(dataSource, records, firstExpiry, interruption) {
  for (let from = 1; from <= records; from += CHUNK) {
    interruption.throwIfAborted();
    const to = Math.min(from + CHUNK - 1, records);
    await dataSource.query(
      `INSERT INTO idempotency_records (tenant, endpoint, key, fingerprint, state, token, created_at, expires_at, completed_at,
         response_status, response_headers, response_body)
       SELECT 'acct_' || n % ${TENANTS}, $1, md5(n::text)::uuid, $2, 'completed', gen_random_uuid(), now(),
         now() + $3::interval + n * interval '1 ms', now(), 201, '[["Content-Type","application/json"]]', $4
       FROM generate_series($5::integer, $6::integer) AS n`,
      [ENDPOINT, FINGERPRINT, firstExpiry, BODY, from, to],
    );
    process.stderr.write(`\r${records} records: ${Math.round((to / records) * 100)} %   `);
  }
  await dataSource.query('VACUUM ANALYZE idempotency_records');
  await dataSource.query('CHECKPOINT').catch(() => undefined);
  process.stderr.write('\n');
}

/** The operation of the `n`th record that `fill()` makes, counted from 1. */
export function operationOf(n) {
  const md5 = createHash('md5').update(String(n)).digest('hex');
  const key = md5.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { tenant: `acct_${n % TENANTS}`, endpoint: ENDPOINT, key };
}

/** An operation that nobody has asked for yet, of any of the tenants. */
export function newOperation() {
  return { tenant: `acct_${randomInt(TENANTS)}`, endpoint: ENDPOINT, key: randomUUID() };
}
