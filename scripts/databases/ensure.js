import pg from 'pg';
import { Refusal } from '../foreground/refusal.js';

const DUPLICATE_DATABASE = '42P04';

/** The URL of the database `<the one at url>_<suffix>` on the same server, which is made when it is not there. */
export async function ensureDatabase(url, suffix) {
  try {
    const beside = new URL(url);
    const name = [beside.pathname.slice(1), suffix].filter(Boolean).join('_');
    await createMissing(url, name);
    beside.pathname = `/${name}`;
    return beside.href;
  } catch (error) {
    throw new Refusal(
      `The card provider has no database: ${error.message || error.code}.\nMake one, and name it in PSP_DATABASE_URL.`,
    );
  }
}

async function createMissing(url, name) {
  const client = new pg.Client({ connectionString: url, application_name: 'launcher' });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  } catch (error) {
    // Another launcher was faster.
    if (error.code !== DUPLICATE_DATABASE) throw error;
  } finally {
    await client.end();
  }
}
