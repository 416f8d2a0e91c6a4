import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { script } from '../scripts/foreground/script.js';
import { buildWhenStale } from '../scripts/workspace/build.js';
import { installMissing } from '../scripts/workspace/install.js';
import { onServer } from './database-server.js';
import { positive } from './options.js';
import { percentile } from './percentile.js';
import { connect } from './store.js';

const USAGE = `Usage: node bench/instances.js [options]

What do instances cost each other that share one database? Has 1, 2, 4, … processes claim, record and commit operations
at the same time, each as fast as it can, by turns and in one run.

  --instances N    the most processes; default 8
  --lanes N        how many operations each has under way; default 4
  --rounds N       how often each number of processes has its turn; default 6
  --seconds N      how long a turn is; default 3

  DATABASE_URL     a server whose user may create databases, instead of the embedded PostgreSQL

How it is measured
  Every operation is a new one, of one of a thousand tenants, with an answer of 200 bytes and no work of its own.
  Processes and database share this machine: where its cores are busy, more processes share them.
`;

await script(async (interruption) => {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      instances: { type: 'string', default: '8' },
      lanes: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '6' },
      seconds: { type: 'string', default: '3' },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const plan = {
    counts: doublings(positive('instances', values.instances)),
    lanes: positive('lanes', values.lanes),
    rounds: positive('rounds', values.rounds),
    turnMs: positive('seconds', values.seconds) * 1_000,
  };
  await installMissing(interruption);
  await buildWhenStale(interruption);
  return onServer((serverUrl) => measure(plan, serverUrl, interruption));
});

async function measure({ counts, lanes, rounds, turnMs }, serverUrl, interruption) {
  const { createDatabase } = await import('./payments/database.js');
  const database = await createDatabase(serverUrl);
  const workers = [];
  try {
    const { dataSource } = await connect(database.url);
    await dataSource.destroy();
    for (let started = 0; started < counts.at(-1); started++) {
      const worker = fork(join(import.meta.dirname, 'instances', 'worker.js'), [database.url, String(lanes)]);
      workers.push(worker);
      await once(worker, 'message');
    }
    const samples = new Map(counts.map((count) => [count, []]));
    // The first turn is for the caches.
    for (let round = 0; round <= rounds; round++) {
      for (const count of counts) {
        interruption.throwIfAborted();
        const latencies = await Promise.all(workers.slice(0, count).map((worker) => turn(worker, turnMs)));
        if (round > 0) samples.get(count).push(...latencies.flat());
      }
    }
    print(samples, (rounds * turnMs) / 1_000);
  } finally {
    for (const worker of workers) worker.disconnect();
    await Promise.all(workers.map((worker) => worker.exitCode ?? once(worker, 'exit')));
    await database.drop();
  }
  return 0;
}

async function turn(worker, forMs) {
  worker.send({ forMs });
  const [{ latencies }] = await once(worker, 'message');
  return latencies;
}

function doublings(most) {
  const counts = [];
  for (let count = 1; count < most; count *= 2) counts.push(count);
  return [...counts, most];
}

function print(samples, seconds) {
  const [[, alone]] = samples;
  for (const [count, latencies] of samples) {
    const [p50, p99] = [0.5, 0.99].map((share) => percentile(latencies, share).toFixed(2));
    console.log(
      `${String(count).padStart(3)} instances  ${Math.round(latencies.length / seconds)} operations a second ` +
        `(${(latencies.length / alone.length).toFixed(2)} of one)  p50 ${p50} ms  p99 ${p99} ms`,
    );
  }
}
