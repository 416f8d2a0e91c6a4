import { Pool, type QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { dataSourceOptions, TABLES } from './process/consumer-app.js';

/** What was booked, read on a connection that no consumer knows of. */
export class Book {
  private constructor(
    private readonly database: TestDatabase,
    private readonly witness: Pool,
  ) {}

  static async open(): Promise<Book> {
    const database = await createTestDatabase();
    const dataSource = await new DataSource(dataSourceOptions(database.url)).initialize();
    await dataSource.runMigrations();
    await dataSource.query(TABLES);
    await dataSource.destroy();
    return new Book(database, new Pool({ connectionString: database.url, max: 2 }));
  }

  get url(): string {
    return this.database.url;
  }

  async close(): Promise<void> {
    await this.witness.end();
    await this.database.drop();
  }

  /** How many rows there are of the bookings whose references begin so. */
  async count(beginning: string): Promise<number> {
    const [row] = await this.rows<{ count: number }>(
      'SELECT count(*)::int FROM bookings WHERE starts_with(reference, $1)',
      beginning,
    );
    return row!.count;
  }

  /** The amounts that were booked under this reference. */
  async amounts(reference: string): Promise<number[]> {
    const rows = await this.rows<{ amount: number }>('SELECT amount FROM bookings WHERE reference = $1', reference);
    return rows.map(({ amount }) => amount);
  }

  /** Of these references, those that nothing was booked under. */
  async missing(references: readonly string[]): Promise<string[]> {
    const rows = await this.rows<{ reference: string }>(
      `SELECT DISTINCT reference FROM unnest($1::text[]) AS asked (reference)
        WHERE NOT EXISTS (SELECT FROM bookings WHERE bookings.reference = asked.reference)`,
      references,
    );
    return rows.map(({ reference }) => reference);
  }

  /** The references that were booked more than once, or with another amount. */
  async wrong(bookings: readonly { readonly reference: string; readonly amount: number }[]): Promise<string[]> {
    const rows = await this.rows<{ reference: string }>(
      `SELECT asked.reference FROM unnest($1::text[], $2::int[]) AS asked (reference, amount)
         JOIN bookings USING (reference)
        GROUP BY asked.reference, asked.amount HAVING count(*) > 1 OR max(bookings.amount) <> asked.amount`,
      bookings.map(({ reference }) => reference),
      bookings.map(({ amount }) => amount),
    );
    return rows.map(({ reference }) => reference);
  }

  private async rows<Row extends QueryResultRow>(sql: string, ...values: unknown[]): Promise<Row[]> {
    return (await this.witness.query<Row>(sql, values)).rows;
  }
}
