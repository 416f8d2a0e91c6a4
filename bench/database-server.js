import { join } from 'node:path';
import { root } from '../scripts/workspace/root.js';

/** Runs `use` with the address of a server: that of DATABASE_URL, or of an embedded PostgreSQL with durable commits. */
export async function onServer(use) {
  if (process.env.DATABASE_URL) return use(process.env.DATABASE_URL);

  const { startPostgres } = await import('../scripts/embedded-postgres/server.js');
  const postgres = await startPostgres({ folder: join(root, '.local', 'postgres-bench'), durable: true });
  try {
    return await use(postgres.url);
  } finally {
    await postgres.stop();
  }
}
