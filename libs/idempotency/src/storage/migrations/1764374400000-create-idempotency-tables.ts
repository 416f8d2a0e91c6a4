import type { DataSource, EntityMetadata, MigrationInterface, QueryRunner } from 'typeorm';

import { changeSchema, takeBack } from '../change-schema.js';
import { newIndex, newTable, type SchemaChange } from '../schema-change.js';
import { dataSourceOf, indexName, quote, recordNames, stepNames } from '../table-names.js';

/** Creates the records of operations, and the steps of those that call outside systems. */
export class CreateIdempotencyTables1764374400000 implements MigrationInterface {
  readonly name = 'CreateIdempotencyTables1764374400000';

  static changes(dataSource: DataSource): SchemaChange[] {
    const records = recordNames(dataSource);
    const { table, columns: c, metadata } = records;
    const stateCheck = quote(metadata.checks[0]!.name);
    const { table: steps, columns: s, metadata: stepMetadata } = stepNames(dataSource);
    return [
      // fillfactor leaves room on the page for the completion of a row: a HOT update.
      newTable(
        table,
        `(
  ${c.createdAt} timestamptz NOT NULL,
  ${c.expiresAt} timestamptz NOT NULL,
  ${c.lockedAt} timestamptz,
  ${c.lockedUntil} timestamptz,
  ${c.completedAt} timestamptz,
  ${c.token} uuid,
  ${c.attempts} integer NOT NULL DEFAULT 1,
  ${c.responseStatus} smallint,
  ${c.hasSteps} boolean NOT NULL DEFAULT false,
  ${c.tenant} text NOT NULL,
  ${c.endpoint} text NOT NULL,
  ${c.key} text NOT NULL,
  ${c.state} text NOT NULL,
  ${c.fingerprint} bytea NOT NULL,
  ${c.responseHeaders} text,
  ${c.responseBody} bytea,
  ${c.responseOmitted} text,
  ${c.resource} text,
  CONSTRAINT ${primaryKey(dataSource, metadata)} PRIMARY KEY (${c.tenant}, ${c.endpoint}, ${c.key}),
  CONSTRAINT ${stateCheck} CHECK (${c.state} IN ('in_progress', 'completed'))
) WITH (fillfactor = 80)`,
      ),
      newIndex(table, indexName(records, 'expiresAt'), `(${c.expiresAt})`),
      newTable(
        steps,
        `(
  ${s.tenant} text NOT NULL,
  ${s.endpoint} text NOT NULL,
  ${s.key} text NOT NULL,
  ${s.name} text NOT NULL,
  ${s.providerKey} text NOT NULL,
  ${s.token} uuid NOT NULL,
  ${s.result} text,
  ${s.intendedAt} timestamptz NOT NULL DEFAULT statement_timestamp(),
  ${s.finishedAt} timestamptz,
  CONSTRAINT ${primaryKey(dataSource, stepMetadata)} PRIMARY KEY (${s.tenant}, ${s.endpoint}, ${s.key}, ${s.name})
)`,
      ),
    ];
  }

  up(runner: QueryRunner): Promise<void> {
    return changeSchema(runner, CreateIdempotencyTables1764374400000.changes(dataSourceOf(runner)));
  }

  async down(runner: QueryRunner): Promise<void> {
    const dataSource = dataSourceOf(runner);
    for (const { table } of [stepNames(dataSource), recordNames(dataSource)]) {
      await takeBack(runner, table, `DROP TABLE IF EXISTS ${table}`);
    }
  }
}

/** Named by the data source's own strategy, so that tables under several prefixes can share a schema. */
function primaryKey(dataSource: DataSource, { tablePath, primaryColumns }: EntityMetadata): string {
  const columns = primaryColumns.map(({ databaseName }) => databaseName);
  return quote(dataSource.namingStrategy.primaryKeyName(tablePath, columns));
}
