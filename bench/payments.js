import { parseArgs } from 'node:util';
import { script } from '../scripts/foreground/script.js';
import { buildWhenStale } from '../scripts/workspace/build.js';
import { installMissing } from '../scripts/workspace/install.js';
import { onServer } from './database-server.js';
import { positive } from './options.js';

const USAGE = `Usage: npm run bench -- [options]

What does @Idempotent() cost? Measures the demo's payment over HTTP with it, claimed by a lease and by the work's own
transaction, and the same PaymentsService in an app that opens its own transaction; replays of a finished payment; and
conflicts with one in flight (409).

  --rounds N           how often everything is measured, in turn; default 7
  --seconds N          how long each measurement lasts; default 1
  --connections LIST   default 1,16,64
  --requests N         the most requests of one measurement; default 20000
  --contended          every payment between the same two accounts: waits for their row locks decide then
  --cpu-profile DIR    has the apps write a CPU profile there

  DATABASE_URL         a server whose user may create databases, instead of the embedded PostgreSQL

How it is measured
  The three apps, the load and PostgreSQL are processes of their own on this machine, so all of them share its cores.
  A round measures everything once, the next round in the opposite order. Throughput is the median of the rounds, the
  ratio the median of each round's own ratio to bare (in brackets its least and greatest), and the percentiles are
  those of all requests of all rounds. CPU is what the app's process used for one request, PostgreSQL not included.
  The load is a closed loop: a connection sends its next request when the last one is answered. Latencies are those
  at that load, and say nothing about requests that arrive whether or not the server keeps up.
  Payments go from 1024 accounts to 1024 others such that no two in flight share an account.
  Commits are flushed to the disk, unless the server of DATABASE_URL is set otherwise.
  On a machine that does other things at the same time only the ratios mean anything, and those only when repeated.
`;

await script(async (interruption) => {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      rounds: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '1' },
      connections: { type: 'string', default: '1,16,64' },
      requests: { type: 'string', default: '20000' },
      contended: { type: 'boolean', default: false },
      'cpu-profile': { type: 'string' },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const plan = {
    rounds: positive('rounds', values.rounds),
    milliseconds: positive('seconds', values.seconds) * 1_000,
    connections: values.connections.split(',').map((count) => positive('connections', count)),
    requests: positive('requests', values.requests),
    isContended: values.contended,
    profileFolder: values['cpu-profile'],
  };
  await installMissing(interruption);
  await buildWhenStale(interruption);
  const { measure } = await import('./payments/measure.js');
  return onServer((serverUrl) => measure(plan, serverUrl, interruption));
});
