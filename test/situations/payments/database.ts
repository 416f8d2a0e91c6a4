import { idempotencyEntities, idempotencyMigrations } from 'nestjs-idempotency';
import { DataSource, type DataSourceOptions } from 'typeorm';

const BUSINESS_TABLES = `
  CREATE TABLE accounts (id text PRIMARY KEY, deposited integer NOT NULL, balance integer NOT NULL);
  CREATE TABLE payments (
    id integer GENERATED ALWAYS AS IDENTITY (START WITH 1001) PRIMARY KEY,
    amount integer NOT NULL,
    currency text NOT NULL,
    source text NOT NULL REFERENCES accounts,
    destination text NOT NULL REFERENCES accounts
  );
  CREATE SEQUENCE runs`;

export function dataSourceOptions(url: string): DataSourceOptions {
  return { type: 'postgres', url, entities: [...idempotencyEntities], migrations: [...idempotencyMigrations] };
}

/** Creates the library's tables by its migrations, and the business tables. */
export async function prepareDatabase(url: string): Promise<void> {
  const dataSource = await new DataSource(dataSourceOptions(url)).initialize();
  await dataSource.runMigrations();
  await dataSource.query(BUSINESS_TABLES);
  await dataSource.destroy();
}
