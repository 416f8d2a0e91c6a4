import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';

import { changeSchema, takeBack } from '../change-schema.js';
import { newColumn, type SchemaChange } from '../schema-change.js';
import { dataSourceOf, recordNames } from '../table-names.js';

/** Adds the column that names the key under which a recorded body is encrypted. */
export class NameTheKeyOfARecording1764460800000 implements MigrationInterface {
  readonly name = 'NameTheKeyOfARecording1764460800000';

  static changes(dataSource: DataSource): SchemaChange[] {
    const { table, columns: c } = recordNames(dataSource);
    return [newColumn(table, c.responseKeyId, 'text')];
  }

  up(runner: QueryRunner): Promise<void> {
    return changeSchema(runner, NameTheKeyOfARecording1764460800000.changes(dataSourceOf(runner)));
  }

  async down(runner: QueryRunner): Promise<void> {
    const { table, columns: c } = recordNames(dataSourceOf(runner));
    await takeBack(runner, table, `ALTER TABLE ${table} DROP COLUMN IF EXISTS ${c.responseKeyId}`);
  }
}
