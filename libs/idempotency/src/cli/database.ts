import type { PoolClient } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';

import { idempotencyEntities } from '../storage/entities/index.js';
import { DOES_NOTHING_MORE } from '../storage/own-connection.js';
import { PostgresRepair } from '../storage/postgres-repair.js';
import { assertSchema } from '../storage/schema-check.js';
import { recordNames } from '../storage/table-names.js';
import { optionsIn } from './data-source-file.js';
import { failureOf, misused, unavailable } from './failure.js';
import { SnakeNaming } from './snake-naming.js';

/** Where the tables are, as every command is told. */
export interface DatabaseOptions {
  readonly url?: string;
  readonly schema?: string;
  readonly prefix?: string;
  readonly naming?: 'default' | 'snake';
  readonly dataSource?: string;
  /** In milliseconds. */
  readonly timeout: number;
}

export interface Database {
  readonly dataSource: DataSource;
  readonly repair: PostgresRepair;
  /** Which database it is, and whose; without a password. */
  readonly name: string;
}

type PostgresOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

const CONNECT_TIMEOUT_MS = 10_000;

/** What says where libpq, and the driver, find a database when nothing else does. */
const PG_VARIABLES = ['PGHOST', 'PGPORT', 'PGDATABASE', 'PGUSER'];

/** Does something with the library's tables, once they are found to be able to serve; the connection ends with it. */
export async function withDatabase<Result>(
  options: DatabaseOptions,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const dataSource = await connected(options);
  try {
    await assertServing(dataSource);
    const repair = new PostgresRepair(dataSource, options.timeout);
    return await work({ dataSource, repair, name: await nameOf(dataSource) });
  } finally {
    await dataSource.destroy().catch(() => undefined);
  }
}

/** A data source that knows the names of the library's tables, and no database. */
export async function unconnected(options: DatabaseOptions): Promise<DataSource> {
  const dataSource = new DataSource({ ...(await given(options)), ...OURS });
  await (dataSource as unknown as { buildMetadatas(): Promise<void> }).buildMetadatas();
  return dataSource;
}

/** In place of what an application does when it connects. */
const OURS = {
  type: 'postgres',
  entities: [...idempotencyEntities],
  ...DOES_NOTHING_MORE,
  installExtensions: false,
  logging: false,
} satisfies DataSourceOptions;

async function connected(options: DatabaseOptions): Promise<DataSource> {
  const { logger: _, replication, ...rest } = await located(options);
  try {
    return await new DataSource({
      ...rest,
      ...replication?.master,
      ...OURS,
      applicationName: 'nestjs-idempotency',
      connectTimeoutMS: CONNECT_TIMEOUT_MS,
      extra: { ...(rest.extra as object | undefined), max: 1 },
      poolErrorHandler: () => undefined,
    }).initialize();
  } catch (error) {
    throw failureOf(error);
  }
}

/** The same as `given`, where it says which database it is. */
async function located(options: DatabaseOptions): Promise<PostgresOptions> {
  const found = await given(options);
  if (options.dataSource !== undefined) return found;
  const url = options.url ?? process.env.DATABASE_URL;
  if (url === undefined || url === '') {
    if (PG_VARIABLES.some((name) => process.env[name])) return found;
    throw misused(
      'Say which database: by --url, by DATABASE_URL, by --data-source, or by PGHOST, PGDATABASE and so on.',
    );
  }
  if (/^postgres(ql)?:\/\//.test(url)) return { ...found, url };
  throw misused('--url and DATABASE_URL take the URL of a PostgreSQL database, such as postgres://user@host/database.');
}

async function given({ dataSource, schema, prefix, naming }: DatabaseOptions): Promise<PostgresOptions> {
  const options = dataSource === undefined ? ({ type: 'postgres' } as const) : await optionsIn(dataSource);
  if (options.type !== 'postgres')
    throw misused(`${dataSource} is a data source for ${options.type}, not for postgres.`);
  return {
    ...options,
    ...(schema !== undefined && { schema }),
    ...(prefix !== undefined && { entityPrefix: prefix }),
    ...(naming === 'snake' && { namingStrategy: new SnakeNaming() }),
  };
}

export async function assertServing(dataSource: DataSource): Promise<void> {
  try {
    await assertSchema(dataSource);
  } catch (error) {
    if (!(error instanceof Error) || 'driverError' in error) throw failureOf(error);
    throw unavailable(
      `${error.message}\nIf they are there under other names, say so by --schema, --prefix or --data-source.`,
    );
  }
}

async function nameOf(dataSource: DataSource): Promise<string> {
  const runner = dataSource.createQueryRunner('master');
  try {
    const { host, port, database, user } = (await runner.connect()) as PoolClient & Record<string, unknown>;
    return `${String(database)} on ${String(host)}:${String(port)} as ${String(user)}, table ${recordNames(dataSource).table}`;
  } finally {
    await runner.release();
  }
}
