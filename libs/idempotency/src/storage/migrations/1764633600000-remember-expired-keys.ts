import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';

import { changeSchema, takeBack } from '../change-schema.js';
import { newColumn, type SchemaChange } from '../schema-change.js';
import { dataSourceOf, recordNames } from '../table-names.js';

/** Adds the column that lets a key outlive the recording made under it. */
export class RememberExpiredKeys1764633600000 implements MigrationInterface {
  readonly name = 'RememberExpiredKeys1764633600000';

  static changes(dataSource: DataSource): SchemaChange[] {
    const { table, columns: c } = recordNames(dataSource);
    return [newColumn(table, c.replaysUntil, 'timestamptz')];
  }

  up(runner: QueryRunner): Promise<void> {
    return changeSchema(runner, RememberExpiredKeys1764633600000.changes(dataSourceOf(runner)));
  }

  async down(runner: QueryRunner): Promise<void> {
    const { table, columns: c } = recordNames(dataSourceOf(runner));
    await takeBack(runner, table, `ALTER TABLE ${table} DROP COLUMN IF EXISTS ${c.replaysUntil}`);
  }
}
