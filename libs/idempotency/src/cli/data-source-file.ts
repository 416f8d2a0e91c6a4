import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { DataSource, DataSourceOptions } from 'typeorm';

import { misused } from './failure.js';

/**
 * The options of the one data source that a file exports, as TypeORM's own command line takes it.
 *
 * The options alone: what an application does when it connects (migrations, synchronization, subscribers) is not to
 * happen here.
 */
export async function optionsIn(file: string): Promise<DataSourceOptions> {
  const exported = await load(file);
  const members = [exported, exported.default].flatMap((module) =>
    typeof module === 'object' && module !== null ? [module, ...(Object.values(module) as unknown[])] : [],
  );
  const found = new Set((await Promise.all(members)).filter(isDataSource));
  const [dataSource] = found;
  if (found.size === 1) return dataSource!.options;
  throw misused(
    `${file} exports ${found.size === 0 ? 'no' : 'more than one'} TypeORM DataSource. ` +
      'Give --data-source a file that exports one.',
  );
}

async function load(file: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as { readonly default?: unknown };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw misused(
      `${file} could not be loaded: ${message}. Where it is TypeScript, give what it is compiled to, ` +
        'or start Node with a loader: `NODE_OPTIONS="--import tsx" npx nestjs-idempotency …`.',
    );
  }
}

/** Of whatever copy of TypeORM it is; its own mark, which it tells its instances by as well. */
function isDataSource(value: unknown): value is DataSource {
  if (typeof value !== 'object' || value === null) return false;
  return (value as { readonly '@instanceof'?: unknown })['@instanceof'] === Symbol.for('DataSource');
}
