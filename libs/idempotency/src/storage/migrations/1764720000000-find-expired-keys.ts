import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';

import { changeSchema, takeBack } from '../change-schema.js';
import { newIndex, type SchemaChange } from '../schema-change.js';
import { dataSourceOf, indexName, quote, recordNames } from '../table-names.js';

/** Adds the index by which the recordings end that their keys outlive: after its column, which others must see by then. */
export class FindExpiredKeys1764720000000 implements MigrationInterface {
  readonly name = 'FindExpiredKeys1764720000000';

  static changes(dataSource: DataSource): SchemaChange[] {
    const records = recordNames(dataSource);
    const { table, columns: c } = records;
    const definition = `(${c.replaysUntil}) WHERE ${c.replaysUntil} IS NOT NULL`;
    return [newIndex(table, indexName(records, 'replaysUntil'), definition)];
  }

  up(runner: QueryRunner): Promise<void> {
    return changeSchema(runner, FindExpiredKeys1764720000000.changes(dataSourceOf(runner)));
  }

  async down(runner: QueryRunner): Promise<void> {
    const records = recordNames(dataSourceOf(runner));
    const { schema } = records.metadata;
    const index = `${schema === undefined ? '' : `${quote(schema)}.`}${indexName(records, 'replaysUntil')}`;
    await takeBack(runner, records.table, `DROP INDEX IF EXISTS ${index}`);
  }
}
