import { expect } from '@jest/globals';
import { Client, type QueryResultRow } from 'pg';

/** What has arrived at the bank. */
export interface Arrived {
  readonly id: string;
  readonly charge: string;
  readonly amount: number;
  readonly currency: string;
}

/** The demo's book, read on a connection that the demo does not know of. */
export class Ledger {
  private constructor(
    private readonly url: string,
    private readonly witness: Client,
  ) {}

  static async open(url: string): Promise<Ledger> {
    const witness = new Client(url);
    await witness.connect();
    return new Ledger(url, witness);
  }

  async rows<Row extends QueryResultRow>(sql: string, ...values: unknown[]): Promise<Row[]> {
    return (await this.witness.query<Row>(sql, values)).rows;
  }

  /** How many of these have been posted, each counted as often as it was. */
  async posted(arrived: readonly Arrived[]): Promise<number> {
    const [row] = await this.rows<{ count: number }>(
      `SELECT count(*)::int FROM ledger_entries WHERE account_id LIKE 'bank_%' AND settlement_id = ANY ($1)`,
      arrived.map(({ id }) => id),
    );
    return row!.count;
  }

  /** Every settlement is posted once, and nothing besides; the book is balanced. */
  async expectPosted(arrived: readonly Arrived[]): Promise<void> {
    const settlements = await this.rows<{ id: string }>(
      `SELECT id, merchant_id || '/' || charge_id AS charge, amount::int, currency FROM settlements`,
    );
    expect(byId(settlements)).toEqual(byId(arrived));
    const postings = await this.rows<{ id: string }>(
      `SELECT settlement_id AS id, merchant_id || '/' || charge_id AS charge, amount::int, currency
         FROM ledger_entries WHERE settlement_id IS NOT NULL AND account_id LIKE 'clearing_%'`,
    );
    expect(byId(postings)).toEqual(byId(arrived));
    expect(await this.rows('SELECT FROM ledger_entries WHERE settlement_id IS NOT NULL')).toHaveLength(
      arrived.length * 2,
    );
    expect(
      await this.rows(
        `SELECT account.merchant_id, account.id FROM accounts AS account
           LEFT JOIN ledger_entries AS entry
             ON entry.merchant_id = account.merchant_id AND entry.account_id = account.id
          GROUP BY account.merchant_id, account.id, account.balance
         HAVING account.balance <> coalesce(sum(entry.amount), 0)`,
      ),
    ).toEqual([]);
    expect(await this.rows('SELECT currency FROM ledger_entries GROUP BY 1 HAVING sum(amount) <> 0')).toEqual([]);
  }

  /**
   * Runs `inside` while nothing can be posted, so that whoever tries has to queue up. The database lets go before the
   * test times out: a gate that nobody opens is a failure, not a hang.
   */
  async holdingTheBank<T>(inside: () => Promise<T>): Promise<T> {
    const holder = new Client(this.url);
    await holder.connect();
    try {
      holder.on('error', () => {});
      await holder.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = '60s'`);
      await holder.query(`SELECT FROM accounts WHERE kind = 'bank' FOR UPDATE`);
      return await inside();
    } finally {
      await holder.end();
    }
  }

  /** How many of the demo's transactions wait for a row that somebody holds. */
  async waiting(): Promise<number> {
    const rows = await this.rows(
      `SELECT FROM pg_stat_activity WHERE datname = current_database()
          AND application_name = 'payments' AND wait_event_type = 'Lock'`,
    );
    return rows.length;
  }

  /** What is on record of settlements becomes a day older. */
  async waitADay(): Promise<void> {
    await this.rows(
      `UPDATE idempotency_records
          SET created_at = created_at - interval '1 day', expires_at = expires_at - interval '1 day',
              locked_at = locked_at - interval '1 day', locked_until = locked_until - interval '1 day',
              completed_at = completed_at - interval '1 day'
        WHERE endpoint = 'settlements'`,
    );
  }

  async close(): Promise<void> {
    await this.witness.end();
  }
}

const byId = <Row extends { readonly id: string }>(rows: readonly Row[]): Row[] =>
  [...rows].sort((one, other) => (one.id < other.id ? -1 : 1));
