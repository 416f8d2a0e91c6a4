import type { AddressInfo } from 'node:net';
import { IdempotentOperations } from 'nestjs-idempotency';
import pg from 'pg';
import { createApp } from '../../apps/payments/src/app.js';
import type { AppOptions } from '../../apps/payments/src/settings/app-options.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** One character a byte, so that equal means equal bytes. */
  readonly body: string;
  readonly json: Record<string, unknown>;
}

export interface Call {
  readonly apiKey?: string;
  readonly key?: string;
}

/** The demo listening on a port of its own, and a connection that looks past it at the tables. */
export async function startDemo(databaseUrl: string, options: Omit<AppOptions, 'databaseUrl'> = {}) {
  const app = await createApp({ databaseUrl, ...options });
  await app.listen(0);
  const { port } = app.getHttpServer().address() as AddressInfo;
  const witness = new pg.Client(databaseUrl);
  await witness.connect();

  async function call(method: string, path: string, credentials: Call, body?: string): Promise<Answer> {
    const { apiKey = 'sk_demo_acme', key } = credentials;
    const response = await fetch(`http://localhost:${port}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${apiKey}`,
        ...(key !== undefined && { 'Idempotency-Key': key }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    return {
      status: response.status,
      headers: response.headers,
      body: bytes.toString('latin1'),
      json: (bytes.length === 0 ? {} : JSON.parse(bytes.toString())) as Answer['json'],
    };
  }

  return {
    url: `http://localhost:${port}`,
    app,
    /** What the demo's own operators have of the library. */
    operations: app.get(IdempotentOperations),
    get: (path: string, options: Call = {}) => call('GET', path, options),
    post: (path: string, body: unknown, options: Call = {}) => call('POST', path, options, JSON.stringify(body)),
    postText: (path: string, body: string, options: Call) => call('POST', path, options, body),

    async rows<Row extends pg.QueryResultRow>(sql: string, ...values: unknown[]): Promise<Row[]> {
      return (await witness.query<Row>(sql, values)).rows;
    },

    /**
     * Runs `inside` while the rows that `sql` locks are held, so that whoever wants them has to queue up. The database
     * lets go of them before the test times out: a gate that nobody opens is a failure, not a hang.
     */
    async holding<T>(sql: string, inside: () => Promise<T>): Promise<T> {
      const holder = new pg.Client(databaseUrl);
      await holder.connect();
      try {
        holder.on('error', () => {});
        await holder.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = '3s'`);
        await holder.query(sql);
        return await inside();
      } finally {
        await holder.end();
      }
    },

    /** Resolves once `count` of the app's transactions wait for a row somebody holds. */
    async waiting(count: number): Promise<void> {
      for (;;) {
        const { rows } = await witness.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database()
            AND application_name = 'payments' AND wait_event_type = 'Lock'`,
        );
        if (rows.length === count) return;
      }
    },

    async stop(): Promise<void> {
      await app.close();
      await witness.end();
    },
  };
}

export type Demo = Awaited<ReturnType<typeof startDemo>>;
