import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';

/**
 * Whether connections reach their server directly, so that a prepared statement is still there when it is used next.
 *
 * A pooler in transaction mode hands out another server process every time, and the process id in its greeting is its
 * own invention.
 */
export async function reachesServerDirectly(dataSource: DataSource): Promise<boolean> {
  const runner = dataSource.createQueryRunner('master');
  try {
    const client = (await runner.connect()) as PoolClient & { readonly processID?: number };
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return rows[0]?.pid === client.processID;
  } finally {
    await runner.release();
  }
}
