import type { DataSource, EntityMetadata, QueryRunner } from 'typeorm';

import { IdempotencyRecord } from './entities/idempotency-record.entity.js';
import { IdempotencyStep } from './entities/idempotency-step.entity.js';

/** How one entity is called in this data source's database, under its schema, prefix and naming strategy. */
export interface TableNames<Entity> {
  /** Quoted, with its schema where it has one. */
  readonly table: string;
  /** The quoted name of every column, by property. */
  readonly columns: Readonly<Record<keyof Entity & string, string>>;
  readonly metadata: EntityMetadata;
}

/** @throws {Error} naming the remedy, when the entity was not given to the data source. */
export function recordNames(dataSource: DataSource): TableNames<IdempotencyRecord> {
  return namesOf(dataSource, IdempotencyRecord);
}

/** @throws {Error} naming the remedy, when the entity was not given to the data source. */
export function stepNames(dataSource: DataSource): TableNames<IdempotencyStep> {
  return namesOf(dataSource, IdempotencyStep);
}

/** How the index on one column is called, quoted. */
export function indexName<Entity>({ metadata }: TableNames<Entity>, column: keyof Entity & string): string {
  const index = metadata.indices.find(({ columns }) => columns.length === 1 && columns[0]!.propertyName === column);
  return quote(index!.name);
}

/** The data source a migration runs on: TypeORM 0.3 and 1.x name it differently. */
export function dataSourceOf(runner: QueryRunner): DataSource {
  return 'dataSource' in runner ? runner.dataSource : (runner as { connection: DataSource }).connection;
}

export function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

function namesOf<Entity extends object>(dataSource: DataSource, entity: new () => Entity): TableNames<Entity> {
  if (!dataSource.hasMetadata(entity)) {
    throw new Error(
      `The data source does not know the entity ${entity.name}. Add the library's entities to its options: ` +
        '`entities: [...yours, ...idempotencyEntities]`, or set `autoLoadEntities: true`.',
    );
  }
  const metadata = dataSource.getMetadata(entity);
  const columns = Object.fromEntries(
    metadata.columns.map((column) => [column.propertyName, quote(column.databaseName)]),
  ) as Record<keyof Entity & string, string>;
  return { table: metadata.tablePath.split('.').map(quote).join('.'), columns, metadata };
}
