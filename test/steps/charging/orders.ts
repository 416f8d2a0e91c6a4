import { DataSource } from 'typeorm';

/** What is to be paid, by which card and at whose; its id is the key of its requests and the provider's reference. */
export interface Order {
  readonly id: string;
  readonly amount: number;
  readonly card: string;
  readonly providerPort: number;
  /** What to do about a call that may have happened. */
  readonly whenUnknown: 'repeat' | 'look_up' | 'hold';
  readonly deadlineMs: number;
  /** How often a call is tried in one attempt. */
  readonly tries: number;
}

/** `ledger` keeps nothing from being booked twice, so that a second entry is there to be seen. */
export const TABLES = `
  CREATE TABLE orders (
    id text PRIMARY KEY, amount integer NOT NULL, card text NOT NULL, provider_port integer NOT NULL,
    when_unknown text NOT NULL, deadline_ms integer NOT NULL, tries integer NOT NULL
  );
  CREATE TABLE ledger ("order" text NOT NULL, charge text NOT NULL, amount integer NOT NULL)`;

export async function findOrder(dataSource: DataSource, id: string): Promise<Order> {
  const [order] = await dataSource.query<Order[]>(
    `SELECT id, amount, card, provider_port AS "providerPort", when_unknown AS "whenUnknown",
       deadline_ms AS "deadlineMs", tries FROM orders WHERE id = $1`,
    [id],
  );
  if (!order) throw new Error(`There is no order ${id}.`);
  return order;
}
