import { availableParallelism, loadavg } from 'node:os';
import { createDatabase } from './database.js';
import { holdInFlight } from './in-flight.js';
import { startLoad, startServer } from './processes.js';
import { Samples } from './samples.js';
import { heading, row } from './table.js';

/** What is measured, in the order of the table; the first one is what the others are compared with. */
const SCENARIOS = [
  { title: 'payment, bare', app: 'bare', kind: 'payment' },
  { title: 'payment, lease', app: 'lease', kind: 'payment' },
  { title: 'payment, transaction', app: 'transaction', kind: 'payment' },
  { title: 'replay, lease', app: 'lease', kind: 'replay' },
  { title: 'replay, transaction', app: 'transaction', kind: 'replay' },
  { title: 'conflict (409), lease', app: 'lease', kind: 'conflict' },
  { title: 'conflict (409), transaction', app: 'transaction', kind: 'conflict' },
];

/** By count rather than by time: on a busy machine code takes longer to become fast. */
const WARM_UP = { connections: 16, requests: 1_500, milliseconds: 10_000 };

/** Runs the plan on a database of its own, prints a table, and returns the exit code. */
export async function measure(plan, serverUrl, interruption) {
  const database = await createDatabase(serverUrl);
  const started = [];
  const start = async (starting) => {
    const process = await starting;
    started.push(process);
    return process;
  };
  try {
    const apps = {};
    // One after the other: the first one makes the tables.
    for (const app of new Set(SCENARIOS.map((scenario) => scenario.app))) {
      apps[app] = await start(startServer(app, database.url, plan, interruption));
    }
    const load = await start(startLoad(interruption));
    await database.openAccounts();

    const site = { apps, load, database, plan, paid: 0 };
    console.log(await describe(database, plan));
    for (const scenario of SCENARIOS) await measureOnce(site, scenario, WARM_UP);
    console.log(heading);
    for (const connections of plan.connections) await measureAt(site, connections);
    await database.assertPayments(site.paid);
    return 0;
  } finally {
    await Promise.all(started.map((process) => process.stop()));
    await database.drop();
  }
}

/** Measures everything at one number of connections, and prints its part of the table. */
async function measureAt(site, connections) {
  const samples = new Map(SCENARIOS.map((scenario) => [scenario, new Samples()]));
  const { milliseconds, requests, rounds } = site.plan;
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? SCENARIOS : SCENARIOS.toReversed();
    for (const scenario of order) {
      samples.get(scenario).add(await measureOnce(site, scenario, { connections, milliseconds, requests }));
    }
  }
  const bare = samples.get(SCENARIOS[0]);
  for (const scenario of SCENARIOS) console.log(row(connections, scenario.title, samples.get(scenario), bare));
  console.log();
}

async function measureOnce(site, { app, kind }, { connections, milliseconds, requests }) {
  const { apps, load, database, plan } = site;
  const { port, cpuMs } = apps[app];
  const { isContended } = plan;
  const inFlight = kind === 'conflict' ? await holdInFlight(port, database) : null;
  try {
    const cpuBefore = await cpuMs();
    const result = await load.ask({ kind, port, connections, milliseconds, requests, isContended, key: inFlight?.key });
    site.paid += result.paid + (inFlight ? 1 : 0);
    return { ...result, cpuMs: (await cpuMs()) - cpuBefore };
  } finally {
    await inFlight?.finish();
  }
}

async function describe(database, { rounds, milliseconds, isContended }) {
  const { version, fsync, commit } = await database.settings();
  return `
PostgreSQL ${version} (fsync ${fsync}, synchronous_commit ${commit}), Node ${process.versions.node}
${availableParallelism()} cores shared by all processes, load average ${loadavg()[0].toFixed(1)} at the start
${rounds} rounds of ${milliseconds / 1_000} s each, closed loop, ${isContended ? 'two contended accounts' : 'no two payments in flight on one account'}
`;
}
