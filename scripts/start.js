import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runTogether } from './foreground/run-together.js';
import { script } from './foreground/script.js';
import { untilListening } from './ports/until-listening.js';
import { waitForPort } from './ports/wait-for-port.js';
import { buildWhenStale } from './workspace/build.js';
import { installMissing } from './workspace/install.js';
import { root } from './workspace/root.js';

const USAGE = `Usage: npm start

Installs and builds what is missing, starts PostgreSQL, and runs the payments demo and its card provider until Ctrl-C.
The data stays in .local/postgres between runs; remove that folder to begin anew.

  PORT              where the demo listens; default 3000
  PSP_PORT          where the card provider listens; default 4000
  METRICS_PORT      where the demo tells its metrics; by default nowhere. observability/ looks for them at 9464
  DATABASE_URL      a PostgreSQL server to use instead of the embedded one
  PSP_DATABASE_URL  the provider's own database; by default it is made beside the demo's, which has _psp after its name
`;

await script(async (interruption) => {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  await installMissing(interruption);
  await buildWhenStale(interruption);
  const ports = { port: process.env.PORT || '3000', pspPort: process.env.PSP_PORT || '4000' };
  await waitForPort(ports.port, 'PORT', interruption);
  await waitForPort(ports.pspPort, 'PSP_PORT', interruption);
  if (process.env.METRICS_PORT) await waitForPort(process.env.METRICS_PORT, 'METRICS_PORT', interruption);
  if (process.env.DATABASE_URL) return runApps({ ...ports, databaseUrl: process.env.DATABASE_URL, interruption });

  const { startPostgres } = await import('./embedded-postgres/server.js');
  console.log('Starting PostgreSQL …');
  const postgres = await startPostgres({ folder: join(root, '.local', 'postgres'), durable: true });
  console.log(`PostgreSQL: ${postgres.url}\n      data: ${postgres.folder}`);
  try {
    return await runApps({ ...ports, databaseUrl: postgres.url, interruption });
  } finally {
    await postgres.stop();
  }
});

/** The provider first: what the demo prints when it listens can be pasted at once. */
async function runApps({ port, pspPort, databaseUrl, interruption }) {
  const { ensureDatabase } = await import('./databases/ensure.js');
  const pspDatabaseUrl = process.env.PSP_DATABASE_URL || (await ensureDatabase(databaseUrl, 'psp'));
  const provider = app('apps/psp/dist/main.js', {
    PORT: pspPort,
    DATABASE_URL: pspDatabaseUrl,
    PSP_WEBHOOK_URL: `http://localhost:${port}/webhooks/psp`,
  });
  const demo = app('apps/payments/dist/main.js', {
    PORT: port,
    DATABASE_URL: databaseUrl,
    PSP_URL: `http://localhost:${pspPort}`,
  });
  return runTogether({
    first: provider,
    isReady: (signal) => untilListening(pspPort, signal),
    second: demo,
    interruption,
  });
}

function app(main, env) {
  return {
    command: process.execPath,
    args: [main],
    options: {
      cwd: root,
      env: { ...process.env, ...env },
      // The channel tells the application when this process is gone, whatever ended it ('disconnect').
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    },
  };
}
