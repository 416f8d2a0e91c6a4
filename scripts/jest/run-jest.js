import { join } from 'node:path';
import { run } from '../foreground/run.js';
import { root } from '../workspace/root.js';

const JEST = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  join(root, 'node_modules', 'jest', 'bin', 'jest.js'),
];

/**
 * Runs jest with a PostgreSQL server, the one of DATABASE_URL or else the embedded one, which is stopped again. Returns
 * jest's exit code.
 */
export async function runJest(args, environment, interruption) {
  if (process.env.DATABASE_URL) return runWith(args, environment, interruption);

  const { startPostgres } = await import('../embedded-postgres/server.js');
  const postgres = await startPostgres({ folder: join(root, '.local', 'postgres-test'), durable: false });
  try {
    return await runWith(args, { ...environment, DATABASE_URL: postgres.url }, interruption);
  } finally {
    await postgres.stop();
  }
}

async function runWith(args, environment, interruption) {
  const env = { ...process.env, ...environment };
  const { exitCode } = await run(process.execPath, [...JEST, ...args], { interruption, cwd: root, env });
  interruption.throwIfAborted();
  return exitCode;
}
