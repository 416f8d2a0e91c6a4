import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Refusal } from '../scripts/foreground/refusal.js';
import { script } from '../scripts/foreground/script.js';
import { buildWhenStale } from '../scripts/workspace/build.js';
import { installMissing } from '../scripts/workspace/install.js';
import { onServer } from './database-server.js';
import { positive } from './options.js';
import { percentile } from './percentile.js';
import { attempt, connect, fill, newOperation, operationOf, record } from './store.js';

const USAGE = `Usage: node bench/sizes.js [options]

Does an attempt cost more where the table holds more? Fills one table for each size, and asks the same of all of them by
turns, in one run: first executions, replays and refusals, one after the other on one connection.

  --sizes N,N,…    how many records; default 10000,1000000,10000000 (ten million take about 8 GB)
  --rounds N       how often each table has its turn; default 10
  --attempts N     how many attempts of each kind a turn has; default 500
  --among N        how many records are asked for again, the last ones; default 10000
  --partitions N   splits the tables by the hash of the tenant; default: not at all

  DATABASE_URL     a server whose user may create databases, instead of the embedded PostgreSQL

How it is measured
  The records belong to a thousand tenants, their keys are random, and so is the choice of the one that is asked for
  again: of the last ones, since retries come soon; and for comparison of all, which no cache holds. Each has an answer
  of 200 bytes. What is claimed is recorded and committed, and stays.
`;

const OTHER = Buffer.alloc(33, 1).fill(2, 1);

/** One attempt of each kind at a table of so many records; each makes sure that it went as it should. */
const KINDS = {
  execution: async (executor) => record(await executor.arrive(attempt(newOperation()))),
  replay: (executor, { size, among }) => arrive(executor, oneOfLast(among, size), undefined, 'replay'),
  refusal: (executor, { size, among }) => arrive(executor, oneOfLast(among, size), OTHER, 'mismatch'),
  'replay of any record': (executor, { size }) => arrive(executor, oneOfLast(size, size), undefined, 'replay'),
};

await script(async (interruption) => {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      sizes: { type: 'string', default: '10000,1000000,10000000' },
      rounds: { type: 'string', default: '10' },
      attempts: { type: 'string', default: '500' },
      among: { type: 'string', default: '10000' },
      partitions: { type: 'string' },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const plan = {
    sizes: values.sizes.split(',').map((size) => positive('sizes', size)),
    rounds: positive('rounds', values.rounds),
    attempts: positive('attempts', values.attempts),
    among: positive('among', values.among),
    partitions: values.partitions === undefined ? 0 : positive('partitions', values.partitions),
  };
  if (plan.sizes.length < 2) throw new Refusal('--sizes: there has to be something to compare, so two at least.');
  await installMissing(interruption);
  await buildWhenStale(interruption);
  return onServer((serverUrl) => measure(plan, serverUrl, interruption));
});

async function measure(plan, serverUrl, interruption) {
  const { createDatabase } = await import('./payments/database.js');
  const tables = [];
  try {
    for (const size of plan.sizes) {
      interruption.throwIfAborted();
      const database = await createDatabase(serverUrl);
      const table = { size, database, among: Math.min(plan.among, size), times: {} };
      for (const kind of Object.keys(KINDS)) table.times[kind] = [];
      tables.push(table);
      Object.assign(table, await connect(database.url, { poolSize: 1 }));
      if (plan.partitions > 0) await partition(table.dataSource, plan.partitions);
      await fill(table.dataSource, size, '1 day', interruption);
    }
    // The first turn is for the caches.
    for (let round = 0; round <= plan.rounds; round++) {
      for (const table of tables) {
        for (const kind of Object.keys(KINDS)) await turn(table, kind, plan.attempts, round > 0, interruption);
      }
    }
    print(tables);
  } finally {
    for (const { dataSource, database } of tables) {
      await dataSource?.destroy();
      await database.drop();
    }
  }
  return 0;
}

async function turn(table, kind, attempts, counts, interruption) {
  interruption.throwIfAborted();
  for (let made = 0; made < attempts; made++) {
    const startedAt = performance.now();
    await KINDS[kind](table.executor, table);
    if (counts) table.times[kind].push(performance.now() - startedAt);
  }
}

async function arrive(executor, operation, fingerprint, expected) {
  const { kind } = await executor.arrive(attempt(operation, fingerprint));
  if (kind !== expected) throw new Error(`An attempt was ${kind}, and should have been ${expected}.`);
}

/** The same tables, split by the hash of the tenant; see docs/scaling.md. */
async function partition(dataSource, partitions) {
  await dataSource.query(`ALTER TABLE idempotency_records RENAME TO whole`);
  await dataSource.query(`CREATE TABLE idempotency_records (LIKE whole INCLUDING ALL) PARTITION BY HASH (tenant)`);
  for (let part = 0; part < partitions; part++) {
    await dataSource.query(
      `CREATE TABLE idempotency_records_${part} PARTITION OF idempotency_records
         FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${part}) WITH (fillfactor = 80)`,
    );
  }
  await dataSource.query('DROP TABLE whole');
}

/** One of the last operations that are on record, by chance. */
function oneOfLast(count, size) {
  return operationOf(size - randomInt(count));
}

function print(tables) {
  const [least] = tables;
  for (const kind of Object.keys(KINDS)) {
    console.log(`\n${kind}`);
    for (const { size, times } of tables) {
      const [p50, p99] = [0.5, 0.99].map((share) => percentile(times[kind], share));
      const [of50, of99] = [0.5, 0.99].map((share) => percentile(least.times[kind], share));
      console.log(
        `${String(size).padStart(10)} records  p50 ${p50.toFixed(2)} ms (${(p50 / of50).toFixed(2)})  ` +
          `p99 ${p99.toFixed(2)} ms (${(p99 / of99).toFixed(2)})`,
      );
    }
  }
}
