import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';

import { changeSchema, takeBack } from '../change-schema.js';
import { newColumn, type SchemaChange } from '../schema-change.js';
import { dataSourceOf, stepNames } from '../table-names.js';

/** Adds the column that counts how often the call of a step was announced. */
export class CountTheTriesOfAStep1764547200000 implements MigrationInterface {
  readonly name = 'CountTheTriesOfAStep1764547200000';

  static changes(dataSource: DataSource): SchemaChange[] {
    const { table, columns: c } = stepNames(dataSource);
    return [newColumn(table, c.tries, 'integer NOT NULL DEFAULT 1')];
  }

  up(runner: QueryRunner): Promise<void> {
    return changeSchema(runner, CountTheTriesOfAStep1764547200000.changes(dataSourceOf(runner)));
  }

  async down(runner: QueryRunner): Promise<void> {
    const { table, columns: c } = stepNames(dataSourceOf(runner));
    await takeBack(runner, table, `ALTER TABLE ${table} DROP COLUMN IF EXISTS ${c.tries}`);
  }
}
