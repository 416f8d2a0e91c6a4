import type { MigrationInterface, QueryRunner } from 'typeorm';

import { dataSourceOf, stepNames } from '../table-names.js';

/** Adds the column that counts how often the call of a step was announced. */
export class CountTheTriesOfAStep1764547200000 implements MigrationInterface {
  readonly name = 'CountTheTriesOfAStep1764547200000';

  async up(runner: QueryRunner): Promise<void> {
    const { table, columns: c } = stepNames(dataSourceOf(runner));
    await runner.query(`ALTER TABLE ${table} ADD COLUMN ${c.tries} integer NOT NULL DEFAULT 1`);
  }

  async down(runner: QueryRunner): Promise<void> {
    const { table, columns: c } = stepNames(dataSourceOf(runner));
    await runner.query(`ALTER TABLE ${table} DROP COLUMN ${c.tries}`);
  }
}
