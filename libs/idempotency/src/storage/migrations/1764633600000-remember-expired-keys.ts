import type { MigrationInterface, QueryRunner } from 'typeorm';

import { dataSourceOf, quote, recordNames } from '../table-names.js';

/** Adds the column that lets a key outlive the recording made under it, and the index by which such recordings end. */
export class RememberExpiredKeys1764633600000 implements MigrationInterface {
  readonly name = 'RememberExpiredKeys1764633600000';

  async up(runner: QueryRunner): Promise<void> {
    const { table, columns: c, metadata } = recordNames(dataSourceOf(runner));
    const index = metadata.indices.find(({ where }) => where !== undefined)!;
    await runner.query(`ALTER TABLE ${table} ADD COLUMN ${c.replaysUntil} timestamptz`);
    await runner.query(
      `CREATE INDEX ${quote(index.name)} ON ${table} (${c.replaysUntil}) WHERE ${c.replaysUntil} IS NOT NULL`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    const { table, columns: c } = recordNames(dataSourceOf(runner));
    await runner.query(`ALTER TABLE ${table} DROP COLUMN ${c.replaysUntil}`);
  }
}
