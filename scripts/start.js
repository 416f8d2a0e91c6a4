import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { run } from './foreground/run.js';
import { script } from './foreground/script.js';
import { waitForPort } from './ports/wait-for-port.js';
import { buildWhenStale } from './workspace/build.js';
import { installMissing } from './workspace/install.js';
import { root } from './workspace/root.js';

const USAGE = `Usage: npm start

Installs and builds what is missing, starts PostgreSQL, and runs the payments demo until Ctrl-C.
The data stays in .local/postgres between runs; remove that folder to begin anew.

  PORT          where the demo listens; default 3000
  DATABASE_URL  a PostgreSQL server to use instead of the embedded one
`;

await script(async (interruption) => {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  await installMissing(interruption);
  await buildWhenStale(interruption);
  const port = process.env.PORT || '3000';
  await waitForPort(port, interruption);
  if (process.env.DATABASE_URL) return runApp({ port, databaseUrl: process.env.DATABASE_URL, interruption });

  const { startPostgres } = await import('./embedded-postgres/server.js');
  console.log('Starting PostgreSQL …');
  const postgres = await startPostgres({ folder: join(root, '.local', 'postgres'), durable: true });
  console.log(`PostgreSQL: ${postgres.url}\n      data: ${postgres.folder}`);
  try {
    return await runApp({ port, databaseUrl: postgres.url, interruption });
  } finally {
    await postgres.stop();
  }
});

/** The exit code is 0 when the application ended because this process was asked to. */
async function runApp({ port, databaseUrl, interruption }) {
  const { exitCode, signal } = await run(process.execPath, ['apps/payments/dist/main.js'], {
    interruption,
    cwd: root,
    env: { ...process.env, PORT: port, DATABASE_URL: databaseUrl },
    // The channel tells the application when this process is gone, whatever ended it ('disconnect').
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  return interruption.aborted && signal !== null && signal !== 'SIGKILL' ? 0 : exitCode;
}
