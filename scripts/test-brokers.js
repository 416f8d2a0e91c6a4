import { runJest } from './jest/run-jest.js';
import { BROKERS } from './brokers/brokers.js';
import { reachBrokers } from './brokers/reach.js';
import { script } from './foreground/script.js';
import { buildWhenStale } from './workspace/build.js';
import { installMissing } from './workspace/install.js';

const USAGE = `Usage: npm run test:brokers -- [jest's arguments]

Installs and builds what is missing, starts PostgreSQL, and runs the tests against real message brokers. None of them is
left out: where a broker cannot be reached, nothing is run.

  npm run test:brokers -- test/brokers/bullmq       the spec files below a path
  docker compose --profile brokers up -d --wait     starts all brokers on this machine

${BROKERS.map(({ variable, defaultUrl }) => `  ${variable.padEnd(14)} default ${defaultUrl}\n`).join('')}  DATABASE_URL   a PostgreSQL server to use instead of the embedded one; its user may create databases

Queues, streams, keys and databases are named anew for each run, and removed when it is over.
`;

await script(async (interruption) => {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(USAGE);
    return 0;
  }
  const environment = await reachBrokers();
  await installMissing(interruption);
  await buildWhenStale(interruption);
  return runJest([...args, '--selectProjects', 'brokers'], environment, interruption);
});
