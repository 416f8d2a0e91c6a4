import { expect } from '@jest/globals';
import { Client } from 'pg';
import { until } from '../protocol/until.js';
import type { PaymentRequest } from './request.js';

/** The tables of the demo, read and moved past it. */
export class Book {
  private constructor(private readonly client: Client) {}

  static async open(databaseUrl: string): Promise<Book> {
    const client = new Client(databaseUrl);
    await client.connect();
    return new Book(client);
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  /** How many payments of this amount there are; each test asks for an amount that no other asks for. */
  async payments({ amount }: PaymentRequest): Promise<number> {
    const { rows } = await this.client.query<{ count: number }>(
      'SELECT count(*)::int FROM payments WHERE amount = $1',
      [amount],
    );
    return rows[0]!.count;
  }

  /** One payment with its two entries, and every balance the sum of its entries. */
  async expectPaidOnce({ amount }: PaymentRequest): Promise<void> {
    const { rows } = await this.client.query(
      `SELECT entry.account_id AS account, entry.amount::int FROM payments JOIN ledger_entries entry
           ON entry.merchant_id = payments.merchant_id AND entry.payment_id = payments.id
        WHERE payments.amount = $1 ORDER BY entry.amount`,
      [amount],
    );
    expect(rows).toEqual([
      { account: 'acct_alice', amount: -amount },
      { account: 'acct_shop', amount },
    ]);
    expect(await this.payments({ key: '', amount })).toBe(1);
    await this.expectBalanced();
  }

  async expectBalanced(): Promise<void> {
    const { rows } = await this.client.query(
      `SELECT accounts.merchant_id, accounts.id, accounts.balance, sum(entry.amount) FROM accounts
         LEFT JOIN ledger_entries entry ON entry.merchant_id = accounts.merchant_id AND entry.account_id = accounts.id
        GROUP BY accounts.merchant_id, accounts.id HAVING accounts.balance <> coalesce(sum(entry.amount), 0)`,
    );
    expect(rows).toEqual([]);
    const { rows: sums } = await this.client.query(
      'SELECT merchant_id, currency FROM ledger_entries GROUP BY merchant_id, currency HAVING sum(amount) <> 0',
    );
    expect(sums).toEqual([]);
  }

  /** The state of an operation's record, and whether its lease still runs. */
  async record({ key }: PaymentRequest): Promise<{ state: string; is_live: boolean | null } | undefined> {
    const { rows } = await this.client.query<{ state: string; is_live: boolean | null }>(
      'SELECT state, locked_until > now() AS is_live FROM idempotency_records WHERE key = $1',
      [key],
    );
    return rows[0];
  }

  /** Lets the lease of an operation run out. */
  async lapse({ key }: PaymentRequest): Promise<void> {
    await this.client.query(
      `UPDATE idempotency_records SET locked_until = now() WHERE key = $1 AND state = 'in_progress'`,
      [key],
    );
  }

  untilLapsed(request: PaymentRequest): Promise<void> {
    return until('the lease has run out', async () => (await this.record(request))?.is_live === false);
  }

  /** Has every payment wait; the returned function lets them go on. */
  async lockAccounts(): Promise<() => Promise<void>> {
    await this.client.query('BEGIN');
    await this.client.query('SELECT FROM accounts FOR UPDATE');
    return async () => void (await this.client.query('COMMIT'));
  }

  /** Waits until somebody's work is stopped by a lock. */
  untilSomebodyWaits(): Promise<void> {
    return until('a payment waits for an account', async () => {
      const { rowCount } = await this.client.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rowCount! > 0;
    });
  }

  /** How many sessions the demo's processes have here. */
  async sessions(): Promise<number> {
    const { rows } = await this.client.query<{ count: number }>(
      `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'payments'`,
    );
    return rows[0]!.count;
  }

  /** Waits until the server has ended every transaction that a process left open. */
  untilNoTransactionIsOpen(): Promise<void> {
    return until('every transaction of a process is over', async () => {
      const { rowCount } = await this.client.query(
        `SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'payments' AND xact_start IS NOT NULL`,
      );
      return rowCount === 0;
    });
  }
}
