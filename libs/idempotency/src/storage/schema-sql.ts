import type { DataSource, EntityMetadata } from 'typeorm';

import { quote, recordNames, stepNames } from './table-names.js';

/**
 * The statements that make the library's tables as they are now, under the names of this data source.
 *
 * What its migrations make of an empty database, for those whose schema is made in another way. The data source need
 * not be connected, but its metadata has to be built.
 */
export function schemaSql(dataSource: DataSource): string {
  const { metadata: records, columns: c } = recordNames(dataSource);
  const { metadata: steps } = stepNames(dataSource);
  const stateCheck = `CONSTRAINT ${quote(records.checks[0]!.name)} CHECK (${c.state} IN ('in_progress', 'completed'))`;
  return [
    // Leaves room on the page for the completion of a row: a HOT update.
    `${tableSql(dataSource, records, [stateCheck])} WITH (fillfactor = 80);\n`,
    ...records.indices.map((index) => indexSql(records, index)),
    `${tableSql(dataSource, steps)};\n`,
  ].join('\n');
}

function tableSql(dataSource: DataSource, metadata: EntityMetadata, constraints: readonly string[] = []): string {
  const lines = [...metadata.columns.map(columnSql), primaryKeySql(dataSource, metadata), ...constraints];
  return `CREATE TABLE ${pathOf(metadata)} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)`;
}

function columnSql({ databaseName, type, isNullable, default: given }: EntityMetadata['columns'][number]): string {
  const value = (typeof given === 'function' ? (given as () => unknown)() : given) as string | number | undefined;
  const nullability = isNullable ? '' : ' NOT NULL';
  return `${quote(databaseName)} ${String(type)}${nullability}${value === undefined ? '' : ` DEFAULT ${value}`}`;
}

/** Named by the data source's own strategy, so that tables under several prefixes can share a schema. */
function primaryKeySql({ namingStrategy }: DataSource, { tablePath, primaryColumns }: EntityMetadata): string {
  const columns = primaryColumns.map(({ databaseName }) => databaseName);
  const name = namingStrategy.primaryKeyName(tablePath, columns);
  return `CONSTRAINT ${quote(name)} PRIMARY KEY (${columns.map(quote).join(', ')})`;
}

function indexSql(metadata: EntityMetadata, { name, columns, where }: EntityMetadata['indices'][number]): string {
  const names = columns.map(({ databaseName }) => quote(databaseName));
  // A partial one is of the rows that have what it is by; its own text would name columns past the naming strategy.
  const rows = where === undefined ? '' : ` WHERE ${names.map((column) => `${column} IS NOT NULL`).join(' AND ')}`;
  return `CREATE INDEX ${quote(name)} ON ${pathOf(metadata)} (${names.join(', ')})${rows};\n`;
}

function pathOf({ tablePath }: EntityMetadata): string {
  return tablePath.split('.').map(quote).join('.');
}
