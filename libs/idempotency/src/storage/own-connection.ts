import { DataSource } from 'typeorm';

/**
 * Opens a data source of one connection to the same database, beside the application's pool; `destroy()` ends it.
 *
 * @param connectTimeoutMs how long to wait for the connection; the application's own setting where it is not given.
 */
export function openOwnConnection(dataSource: DataSource, connectTimeoutMs?: number): Promise<DataSource> {
  const { extra, ...options } = dataSource.options as { extra?: Record<string, unknown> };
  return new DataSource({
    ...options,
    type: 'postgres',
    poolSize: 1,
    extra: { ...extra, max: 1, ...(connectTimeoutMs !== undefined && { connectionTimeoutMillis: connectTimeoutMs }) },
    entities: [],
    subscribers: [],
    cache: false,
    migrations: [],
    synchronize: false,
    dropSchema: false,
    migrationsRun: false,
  }).initialize();
}
