import pg from 'pg';

/** The advisory lock, in the database `postgres`, that says who uses a server. Any number would do. */
const LOCK = 7_205_418;

/**
 * Takes a lease on the server at `url`: a connection that holds a shared lock until it ends, also by SIGKILL.
 * `{ connection }`, or `{ failure }` when no server of this cluster answers there; its password tells it from others.
 */
export async function takeLease(url) {
  const connection = new pg.Client({
    connectionString: url,
    application_name: 'launcher',
    ssl: false,
    connectionTimeoutMillis: 5_000,
  });
  // A server that goes down ends the connection: no news for whoever waits for the lock or has stopped it.
  connection.on('error', () => {});
  try {
    await connection.connect();
    // Waits while the last user is stopping the server, and fails when it is down.
    await connection.query('SELECT pg_advisory_lock_shared($1)', [LOCK]);
    return { connection };
  } catch (failure) {
    await connection.end().catch(() => {});
    return { failure };
  }
}

/** Gives the lease back. True: nobody else holds one, and nobody gets one until `connection` ends. */
export async function isLastUser(connection) {
  await connection.query('SELECT pg_advisory_unlock_shared($1)', [LOCK]);
  const { rows } = await connection.query('SELECT pg_try_advisory_lock($1) AS granted', [LOCK]);
  return rows[0].granted;
}
