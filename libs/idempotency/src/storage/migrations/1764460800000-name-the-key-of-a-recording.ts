import type { MigrationInterface, QueryRunner } from 'typeorm';

import { dataSourceOf, recordNames } from '../table-names.js';

/** Adds the column that names the key under which a recorded body is encrypted. */
export class NameTheKeyOfARecording1764460800000 implements MigrationInterface {
  readonly name = 'NameTheKeyOfARecording1764460800000';

  async up(runner: QueryRunner): Promise<void> {
    const { table, columns: c } = recordNames(dataSourceOf(runner));
    await runner.query(`ALTER TABLE ${table} ADD COLUMN ${c.responseKeyId} text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    const { table, columns: c } = recordNames(dataSourceOf(runner));
    await runner.query(`ALTER TABLE ${table} DROP COLUMN ${c.responseKeyId}`);
  }
}
