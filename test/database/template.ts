import { type Client, escapeIdentifier } from 'pg';
import { databaseUrl, onServer } from './server.js';

export type Template = {
  /** Says what is in it, version of the schema included: a database of this name is not prepared again. */
  readonly name: string;
  /** Fills the empty database at `url`; its connections are closed when it resolves. */
  prepare(url: string): Promise<void>;
};

/** The advisory lock under which one process prepares a template and the others wait. Any number would do. */
const LOCK = 7_205_419;

/** Makes the template database unless it is there, and returns its name. */
export async function ensureTemplate({ name, prepare }: Template): Promise<string> {
  const database = `template_${name}`;
  await onServer(async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    if (await isComplete(client, database)) return;
    const quoted = escapeIdentifier(database);
    await client.query(`DROP DATABASE IF EXISTS ${quoted} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${quoted}`);
    await prepare(databaseUrl(database));
    // A database with open connections cannot be cloned. The mark comes last: one without it was cut short.
    await client.query(`ALTER DATABASE ${quoted} ALLOW_CONNECTIONS false`);
    await client.query(`ALTER DATABASE ${quoted} IS_TEMPLATE true`);
  });
  return database;
}

async function isComplete(client: Client, database: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1 AND datistemplate', [database]);
  return rowCount === 1;
}
