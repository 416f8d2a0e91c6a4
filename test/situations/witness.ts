import { Client } from 'pg';

import { eventually } from '../wire/gate.js';

/** What the database tells after a play, whatever was answered. */
export interface Ending {
  /** How often a handler was entered, undone runs included. */
  readonly runs: number;
  readonly payments: number;
  /** The state of each record. */
  readonly records: readonly ('in_progress' | 'completed')[];
}

const OPENING_BALANCE = 10_000;

/** Whatever a play that failed has left locked is told loudly. */
const LOCK_TIMEOUT_MS = 10_000;

/** Looks at the tables past the application, and moves the times in them. */
export class Witness {
  private constructor(private readonly client: Client) {}

  static async of(url: string): Promise<Witness> {
    const client = new Client({ connectionString: url, lock_timeout: LOCK_TIMEOUT_MS });
    client.on('error', () => undefined);
    await client.connect();
    return new Witness(client);
  }

  close(): Promise<void> {
    return this.client.end();
  }

  /** Brings the tables to where every play begins. */
  async reset(): Promise<void> {
    await this.client.query('TRUNCATE idempotency_records, idempotency_steps, payments, accounts RESTART IDENTITY');
    await this.client.query('ALTER SEQUENCE runs RESTART');
    await this.client.query(
      `INSERT INTO accounts SELECT id, $1, $1 FROM unnest(ARRAY['acct_alice', 'acct_bob', 'acct_shop', 'acct_tax']) id`,
      [OPENING_BALANCE],
    );
  }

  async ending(): Promise<Ending> {
    const [ending] = await this.rows<Ending>(
      `SELECT (SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int FROM runs) AS runs,
              (SELECT count(*)::int FROM payments) AS payments,
              ARRAY(SELECT state::text FROM idempotency_records ORDER BY created_at) AS records`,
    );
    return ending!;
  }

  /** The accounts that do not hold what was deposited and what the payments moved. */
  accountsOutOfBalance(): Promise<{ id: string }[]> {
    return this.rows(
      `SELECT id FROM accounts WHERE balance <> deposited
         + (SELECT coalesce(sum(amount), 0) FROM payments WHERE destination = accounts.id)
         - (SELECT coalesce(sum(amount), 0) FROM payments WHERE source = accounts.id)`,
    );
  }

  async payments(): Promise<number> {
    return (await this.ending()).payments;
  }

  /** Puts the ends of the leases far off: however long a play takes, a duplicate comes early. */
  async extendLeases(): Promise<void> {
    await this.rows(`UPDATE idempotency_records SET locked_until = statement_timestamp() + interval '1 hour'`);
  }

  /** Lets the leases run out. */
  async lapseLeases(): Promise<void> {
    await this.rows(`UPDATE idempotency_records SET locked_until = statement_timestamp() - interval '1 hour'`);
  }

  async deposit(account: string, amount: number): Promise<void> {
    await this.rows(
      'UPDATE accounts SET deposited = deposited + $2, balance = balance + $2 WHERE id = $1',
      account,
      amount,
    );
  }

  /** Whether a session has waited for a lock for so long that it looks for a deadlock no more. */
  async hasLooked(pid: number): Promise<boolean> {
    const waiting = await this.rows(
      `SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'
         AND clock_timestamp() - query_start > 1.2 * current_setting('deadlock_timeout')::interval`,
      pid,
    );
    return waiting.length > 0;
  }

  /** Whether no transaction of anybody else's is open. */
  async isNobodyAtWork(): Promise<boolean> {
    const open = await this.rows(
      `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`,
    );
    return open.length === 0;
  }

  async untilRecorded(): Promise<void> {
    await eventually('every operation is recorded', async () => {
      const { records } = await this.ending();
      return records.every((state) => state === 'completed');
    });
  }

  async rows<Row>(sql: string, ...values: unknown[]): Promise<Row[]> {
    return (await this.client.query(sql, values)).rows as Row[];
  }
}
