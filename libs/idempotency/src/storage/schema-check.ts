import type { DataSource, EntityMetadata, QueryRunner } from 'typeorm';

import { recordNames, stepNames, type TableNames } from './table-names.js';

/** How PostgreSQL writes the types that the entities name. */
const WRITTEN_TYPES: Record<string, string> = { timestamptz: 'timestamp with time zone' };

interface ColumnRow {
  name: string;
  type: string;
  is_key: boolean;
  is_demanded: boolean;
}

/**
 * Makes sure that the library's tables are there and can serve. What a newer version has added is no reason to refuse.
 *
 * @throws {Error} listing what is missing or different, and naming the migration to run.
 */
export async function assertSchema(dataSource: DataSource): Promise<void> {
  const defects: string[] = [];
  const runner = dataSource.createQueryRunner('master');
  try {
    for (const names of [recordNames(dataSource), stepNames(dataSource)]) {
      defects.push(...(await defectsOf(runner, names)));
    }
  } finally {
    await runner.release();
  }
  if (defects.length === 0) return;
  throw new Error(
    `The idempotency tables cannot serve:\n${defects.map((defect) => `  - ${defect}`).join('\n')}\n` +
      "Add the library's migrations to the data source (`migrations: [...yours, ...idempotencyMigrations]`) " +
      'and run them: `dataSource.runMigrations()`, or `npx typeorm migration:run -d <your data source>`.',
  );
}

/** Reads the catalogue rather than the information schema, which hides what the role may not use. */
async function defectsOf(runner: QueryRunner, { table, metadata }: TableNames<never>): Promise<string[]> {
  const rows = (await runner.query(
    `SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type,
            coalesce(a.attnum = ANY (i.indkey::int2[]), false) AS is_key,
            a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS is_demanded
     FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
     WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped`,
    [table],
  )) as ColumnRow[];
  if (rows.length === 0) return [`table ${table} does not exist, or this role cannot see it`];
  return [columnDefects, demandDefects, keyDefects].flatMap((defectsIn) => defectsIn(table, metadata, rows));
}

function columnDefects(table: string, metadata: EntityMetadata, rows: readonly ColumnRow[]): string[] {
  return metadata.columns.flatMap(({ databaseName, type }) => {
    const found = rows.find(({ name }) => name === databaseName);
    if (!found) return [`column ${table}.${databaseName} does not exist`];
    const expected = WRITTEN_TYPES[String(type)] ?? String(type);
    return found.type === expected ? [] : [`column ${table}.${databaseName} is ${found.type}, not ${expected}`];
  });
}

/** A column that this version does not know, and that has to be filled: every claim would fail. */
function demandDefects(table: string, metadata: EntityMetadata, rows: readonly ColumnRow[]): string[] {
  const known = metadata.columns.map(({ databaseName }) => databaseName);
  return rows
    .filter(({ name, is_demanded }) => is_demanded && !known.includes(name))
    .map(({ name }) => `column ${table}.${name} is NOT NULL without a default, and this version does not fill it`);
}

/** Without exactly this primary key the claim statement has nothing to arbitrate by. */
function keyDefects(table: string, metadata: EntityMetadata, rows: readonly ColumnRow[]): string[] {
  const expected = metadata.primaryColumns.map(({ databaseName }) => databaseName).sort();
  const found = rows
    .filter((row) => row.is_key)
    .map(({ name }) => name)
    .sort();
  return expected.join() === found.join()
    ? []
    : [`the primary key of ${table} is (${found.join(', ')}), not (${expected.join(', ')})`];
}
