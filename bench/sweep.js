import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { script } from '../scripts/foreground/script.js';
import { buildWhenStale } from '../scripts/workspace/build.js';
import { installMissing } from '../scripts/workspace/install.js';
import { onServer } from './database-server.js';
import { positive } from './options.js';
import { percentile } from './percentile.js';
import { attempt, connect, fill, newOperation } from './store.js';

const USAGE = `Usage: node bench/sweep.js [options]

What does a sweep cost those who claim meanwhile? Fills the table with records past their retention, and claims and
releases operations at a steady rate, before and while they are swept: the percentiles of a claim, in one run.

  --records N      how many records are swept; default 1000000
  --rate N         how many operations are claimed a second; default 100
  --seconds N      how long is measured before the sweep; default 20

  DATABASE_URL     a server whose user may create databases, instead of the embedded PostgreSQL

How it is measured
  Claims come at their rate whether or not those before them are done (an open loop), and the time of a claim counts
  from when it was due. The sweeper is in the same process, as in an application. What is swept has an answer of 200
  bytes.
`;

await script(async (interruption) => {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      records: { type: 'string', default: '1000000' },
      rate: { type: 'string', default: '100' },
      seconds: { type: 'string', default: '20' },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const plan = {
    records: positive('records', values.records),
    everyMs: 1_000 / positive('rate', values.rate),
    quietMs: positive('seconds', values.seconds) * 1_000,
  };
  await installMissing(interruption);
  await buildWhenStale(interruption);
  return onServer((serverUrl) => measure(plan, serverUrl, interruption));
});

async function measure({ records, everyMs, quietMs }, serverUrl, interruption) {
  const { createDatabase } = await import('./payments/database.js');
  const database = await createDatabase(serverUrl);
  try {
    const { executor, sweeper, dataSource } = await connect(database.url);
    try {
      console.log(`${records} records past their retention …`);
      await fill(dataSource, records, '-1 day', interruption);
      const quiet = await claimFor(executor, everyMs, setTimeout(quietMs), interruption);
      const startedAt = performance.now();
      const sweeping = sweeper.sweepDue();
      const busy = await claimFor(executor, everyMs, sweeping, interruption);
      const seconds = (performance.now() - startedAt) / 1_000;
      console.log(`${await sweeping} swept in ${seconds.toFixed(1)} s\n`);
      print('quiet', quiet);
      print('swept', busy);
      console.log(`p99 while swept, of quiet: ${(percentile(busy, 0.99) / percentile(quiet, 0.99)).toFixed(2)}`);
    } finally {
      await dataSource.destroy();
    }
  } finally {
    await database.drop();
  }
  return 0;
}

/** How long claims took, in milliseconds, one every `everyMs` until `end` is there. */
async function claimFor(executor, everyMs, end, interruption) {
  const latencies = [];
  const claims = [];
  let isOver = false;
  void end.then(() => (isOver = true));
  for (let due = performance.now(); !isOver; due += everyMs) {
    interruption.throwIfAborted();
    await setTimeout(Math.max(0, due - performance.now()));
    claims.push(claim(executor, () => latencies.push(performance.now() - due)));
  }
  await Promise.all(claims);
  return latencies;
}

async function claim(executor, onClaimed) {
  const arrival = await executor.arrive(attempt(newOperation()));
  if (arrival.kind !== 'claimed') throw new Error(`A new operation was not claimed: ${arrival.kind}.`);
  onClaimed();
  await arrival.execution.settle({ kind: 'release' });
}

function print(title, latencies) {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(latencies, share).toFixed(2));
  console.log(`${title}  ${latencies.length} claims  p50 ${p50} ms  p95 ${p95} ms  p99 ${p99} ms`);
}
