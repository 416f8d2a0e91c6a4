import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { MERCHANT_ID, PAIRS, payeeOf, payerOf } from './requests.js';

/** More than any number of payments of one minor unit takes. */
const MONEY = 1_000_000_000;

/** Makes a database for this run on the server at `serverUrl`. */
export async function createDatabase(serverUrl) {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  await withClient(serverUrl, (client) => client.query(`CREATE DATABASE ${name}`));
  return new BenchDatabase(serverUrl, name);
}

class BenchDatabase {
  constructor(serverUrl, name) {
    this.serverUrl = serverUrl;
    this.name = name;
    this.url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
  }

  /** Opens the accounts that pay and are paid; once the tables are there. */
  async openAccounts() {
    const ids = Array.from({ length: PAIRS + 1 }, (_, pair) => [payerOf(pair), payeeOf(pair)]).flat();
    await withClient(this.url, async (client) => {
      await client.query(
        `INSERT INTO accounts (merchant_id, id, kind, currency, balance)
         SELECT $1, id, 'customer', 'usd', $2 FROM unnest($3::text[]) AS id`,
        [MERCHANT_ID, MONEY, ids],
      );
      await client.query('ANALYZE');
    });
  }

  /** Locks the row of a payer; the returned function lets it go. */
  async lockAccount(pair) {
    const client = new pg.Client(this.url);
    await client.connect();
    await client.query('BEGIN');
    await client.query('SELECT FROM accounts WHERE merchant_id = $1 AND id = $2 FOR UPDATE', [
      MERCHANT_ID,
      payerOf(pair),
    ]);
    return () => client.end();
  }

  /** Every answer that said so has made a payment, and nothing else has. */
  async assertPayments(expected) {
    const { count } = await this.one('SELECT count(*)::int AS count FROM payments');
    if (count !== expected) throw new Error(`${expected} payments were answered with success, ${count} were made.`);
  }

  settings() {
    return this.one(`SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
                            current_setting('synchronous_commit') AS commit`);
  }

  async drop() {
    await withClient(this.serverUrl, (client) => client.query(`DROP DATABASE ${this.name} WITH (FORCE)`));
  }

  one(query) {
    return withClient(this.url, async (client) => (await client.query(query)).rows[0]);
  }
}

async function withClient(url, use) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
