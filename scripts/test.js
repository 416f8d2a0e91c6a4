import { runJest } from './jest/run-jest.js';
import { script } from './foreground/script.js';
import { buildWhenStale } from './workspace/build.js';
import { installMissing } from './workspace/install.js';

const USAGE = `Usage: npm test -- [jest's arguments]

Installs and builds what is missing, starts PostgreSQL, and runs the tests.

  npm test -- test/database       the spec files below a path
  npm test -- -t 'replays'        the tests whose title matches
  DATABASE_URL=… npm test         on this server, whose user may create databases

A failed test keeps its database. To look at it: node scripts/postgres.js .local/postgres-test
What needs message brokers is left out: npm run test:brokers
`;

await script(async (interruption) => {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(USAGE);
    return 0;
  }
  await installMissing(interruption);
  await buildWhenStale(interruption);
  // Last: it would take a path after it for the name of another project.
  const exitCode = await runJest([...args, '--ignoreProjects', 'brokers'], {}, interruption);
  // Where jest prints its summary; its standard output may be JSON.
  console.error('Left out: the tests against message brokers. `npm run test:brokers` runs them.');
  return exitCode;
});
