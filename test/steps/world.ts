import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { Pool, type QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { until } from '../protocol/until.js';
import { type LoggedCall, Psp } from '../psp/psp.js';
import { type Request, type Response, responsesIn, bytesOf, exchange } from '../wire/socket.js';
import { dataSourceOptions } from './charging/app.js';
import { type Order, TABLES } from './charging/orders.js';

/** How the provider treats its callers: see its options of the same names. */
export type ProviderMode = Pick<Parameters<typeof Psp.start>[0], 'keys' | 'search'>;

/** A provider with a book of its own. */
export interface Provider {
  readonly psp: Psp;
  stop(): Promise<void>;
}

export async function startProvider(mode: ProviderMode = {}): Promise<Provider> {
  const database = await createTestDatabase();
  const psp = await Psp.start({ databaseUrl: database.url, ...mode });
  return {
    psp,
    stop: async () => {
      await psp.stop();
      await database.drop();
    },
  };
}

export interface StepRow {
  readonly name: string;
  readonly provider_key: string;
  readonly tries: number;
  readonly result: string | null;
}

/** The application's database, looked at and moved on connections that the application knows nothing of. */
export class World {
  private constructor(
    private readonly database: TestDatabase,
    private readonly witness: Pool,
  ) {}

  static async open(): Promise<World> {
    const database = await createTestDatabase();
    const dataSource = await new DataSource(dataSourceOptions(database.url)).initialize();
    await dataSource.runMigrations();
    await dataSource.query(TABLES);
    await dataSource.destroy();
    return new World(database, new Pool({ connectionString: database.url, max: 4 }));
  }

  get url(): string {
    return this.database.url;
  }

  async close(): Promise<void> {
    await this.witness.end();
    await this.database.drop();
  }

  async rows<Row extends QueryResultRow>(sql: string, ...values: unknown[]): Promise<Row[]> {
    return (await this.witness.query<Row>(sql, values)).rows;
  }

  /** An order that is to be paid at this provider. */
  async order(psp: Psp, terms: Partial<Order> = {}): Promise<Order> {
    const order: Order = {
      id: randomUUID(),
      amount: 500,
      card: 'tok_visa',
      providerPort: psp.port,
      whenUnknown: 'repeat',
      deadlineMs: 10_000,
      tries: 1,
      ...terms,
    };
    const { id, amount, card, providerPort, whenUnknown, deadlineMs, tries } = order;
    const values = [id, amount, card, providerPort, whenUnknown, deadlineMs, tries];
    await this.rows('INSERT INTO orders VALUES ($1, $2, $3, $4, $5, $6, $7)', ...values);
    return order;
  }

  /** What was booked for it. */
  async ledger({ id }: Order): Promise<{ charge: string; amount: number }[]> {
    return this.rows('SELECT charge, amount FROM ledger WHERE "order" = $1', id);
  }

  /** The steps on record for it, in the order of their names. */
  async steps({ id }: Order): Promise<StepRow[]> {
    return this.rows(
      'SELECT name, provider_key, tries, result FROM idempotency_steps WHERE key = $1 ORDER BY name',
      id,
    );
  }

  async record({ id }: Order): Promise<{ state: string; has_steps: boolean; is_live: boolean | null } | undefined> {
    const [row] = await this.rows<{ state: string; has_steps: boolean; is_live: boolean | null }>(
      'SELECT state, has_steps, locked_until > now() AS is_live FROM idempotency_records WHERE key = $1',
      id,
    );
    return row;
  }

  /** Lets an hour pass for the operation: its lease has run out, and whatever its calls were is long over. */
  async pass({ id }: Order): Promise<void> {
    await this.rows(
      `UPDATE idempotency_records SET locked_until = locked_until - interval '1 hour' WHERE key = $1 AND state = 'in_progress'`,
      id,
    );
    await this.rows(`UPDATE idempotency_steps SET intended_at = intended_at - interval '1 hour' WHERE key = $1`, id);
  }

  /** Waits until the server has ended every transaction that a process left open. */
  untilNoTransactionIsOpen(): Promise<void> {
    return until('every transaction of the application is over', async () => {
      const open = await this.rows(
        `SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'charging' AND xact_start IS NOT NULL`,
      );
      return open.length === 0;
    });
  }

  /** One charge of the whole amount at the provider, the same in the ledger, and nothing left to be found out. */
  async expectPaidOnce(order: Order, psp: Psp): Promise<void> {
    const charges = await psp.rows<{ id: string; captured: number }>(
      'SELECT id, captured::int FROM charges WHERE reference = $1',
      order.id,
    );
    expect(charges).toEqual([{ id: expect.any(String), captured: order.amount }]);
    expect(await this.ledger(order)).toEqual([{ charge: charges[0]!.id, amount: order.amount }]);
    expect(await this.steps(order)).toEqual([]);
    expect(await this.record(order)).toMatchObject({ state: 'completed' });
  }

  /** Neither the provider nor we know of any money. */
  async expectNotPaid(order: Order, psp: Psp): Promise<void> {
    expect(await psp.charges(order.id)).toBe(0);
    expect(await this.ledger(order)).toEqual([]);
  }
}

/** The calls about an order that change something, as the provider's log tells of them. */
export async function callsOf(psp: Psp, { id }: Order): Promise<{ operation: string; key: string }[]> {
  const calls = (await psp.calls()) as (LoggedCall & { readonly key: string })[];
  return calls.filter(({ references, operation }) => references.includes(id) && operation !== 'lookup');
}

/** One answer, as its bytes came over the socket; status 0 where the connection ended without one. */
export interface Told {
  readonly status: number;
  readonly isReplay: boolean;
  readonly code: string | undefined;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** Asks for an order to be paid, on a connection of its own. */
export async function pay(port: number, { id }: Order, path = '/charges'): Promise<Told> {
  const request: Request = { path, key: id, body: {}, headers: { Connection: 'close' } };
  const [response] = responsesIn(await exchange(port, bytesOf(request)));
  return told(response);
}

function told(response: Response | undefined): Told {
  if (!response) return { status: 0, isReplay: false, code: undefined, retryAfter: undefined, body: '' };
  const body = response.body().toString();
  return {
    status: response.status,
    isReplay: response.header('Idempotent-Replayed') === 'true',
    code: /"code":"([\w-]+)"/.exec(body)?.[1],
    retryAfter: response.header('Retry-After'),
    body,
  };
}
