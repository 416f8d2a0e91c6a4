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
export function attempt(operation, fingerprint = Buffer.alloc(33, 1)) {
  return { operation, fingerprint, strategy: { kind: 'lease' }, leaseMs: 60_000, retentionMs: 86_400_000 };
}

const BODY = Buffer.alloc(200, 'x');

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

/** The least value that this share of the samples does not exceed. */
export function percentile(samples, share) {
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.ceil(share * sorted.length) - 1];
}
