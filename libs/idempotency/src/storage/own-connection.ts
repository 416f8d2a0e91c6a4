import type { ClientConfig } from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';

/** In place of what an application's data source does when it connects. */
export const DOES_NOTHING_MORE = {
  subscribers: [],
  cache: false,
  migrations: [],
  synchronize: false,
  dropSchema: false,
  migrationsRun: false,
} satisfies Partial<DataSourceOptions>;

/**
 * Opens a data source of one connection to the same database, beside the application's pool; `destroy()` ends it.
 *
 * @param settings in place of the application's own, as the driver takes them.
 */
export function openOwnConnection(dataSource: DataSource, settings: ClientConfig = {}): Promise<DataSource> {
  const { extra, ...options } = dataSource.options as { extra?: Record<string, unknown> };
  return new DataSource({
    ...options,
    type: 'postgres',
    poolSize: 1,
    extra: { ...extra, max: 1, ...settings },
    entities: [],
    ...DOES_NOTHING_MORE,
  }).initialize();
}
