import type { DataSource } from 'typeorm';

import { idempotencyMigrations } from './migrations/index.js';

/**
 * The statements that make the library's tables as they are now, under the names of this data source, or bring those of
 * an earlier version up to date: each does nothing where its work is done.
 *
 * What its migrations do, for those whose schema is made in another way. The data source need not be connected, but its
 * metadata has to be built.
 */
export function schemaSql(dataSource: DataSource): string {
  const migrations = idempotencyMigrations.map((migration) => {
    const statements = migration.changes(dataSource).map(({ sql }) => `${sql};\n`);
    return `-- ${migration.name}\n${statements.join('\n')}`;
  });
  return `${HEAD}\n${migrations.join('\n')}`;
}

const HEAD = `-- The tables of nestjs-idempotency. Every statement can be repeated: run them outside a transaction, and again from
-- the start if one of them could not get its lock in time, so that requests never queue up behind it.
-- On a large table in use, make an index with CREATE INDEX CONCURRENTLY instead.
SET lock_timeout = '100ms';
`;
