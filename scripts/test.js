import { join } from 'node:path';
import { run } from './foreground/run.js';
import { script } from './foreground/script.js';
import { buildWhenStale } from './workspace/build.js';
import { installMissing } from './workspace/install.js';
import { root } from './workspace/root.js';

const USAGE = `Usage: npm test -- [jest's arguments]

Installs and builds what is missing, starts PostgreSQL, and runs the tests.

  npm test -- test/database       the spec files below a path
  npm test -- -t 'replays'        the tests whose title matches
  DATABASE_URL=… npm test         on this server, whose user may create databases

A failed test keeps its database. To look at it: node scripts/postgres.js .local/postgres-test
`;

const JEST = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  join(root, 'node_modules', 'jest', 'bin', 'jest.js'),
];

await script(async (interruption) => {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(USAGE);
    return 0;
  }
  await installMissing(interruption);
  await buildWhenStale(interruption);
  if (process.env.DATABASE_URL) return runJest(args, process.env.DATABASE_URL, interruption);

  const { startPostgres } = await import('./embedded-postgres/server.js');
  const postgres = await startPostgres({ folder: join(root, '.local', 'postgres-test'), durable: false });
  try {
    return await runJest(args, postgres.url, interruption);
  } finally {
    await postgres.stop();
  }
});

async function runJest(args, databaseUrl, interruption) {
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  const { exitCode } = await run(process.execPath, [...JEST, ...args], { interruption, cwd: root, env });
  interruption.throwIfAborted();
  return exitCode;
}
