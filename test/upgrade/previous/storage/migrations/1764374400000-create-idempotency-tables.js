import { dataSourceOf, quote, recordNames, stepNames } from '../table-names.js';
export class CreateIdempotencyTables1764374400000 {
    constructor() {
        this.name = 'CreateIdempotencyTables1764374400000';
    }
    async up(runner) {
        const dataSource = dataSourceOf(runner);
        const { table, columns: c, metadata } = recordNames(dataSource);
        const stateCheck = quote(metadata.checks[0].name);
        await runner.query(`
      CREATE TABLE ${table} (
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
      ) WITH (fillfactor = 80)`);
        await runner.query(`CREATE INDEX ${quote(metadata.indices[0].name)} ON ${table} (${c.expiresAt})`);
        const { table: steps, columns: s, metadata: stepMetadata } = stepNames(dataSource);
        await runner.query(`
      CREATE TABLE ${steps} (
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
      )`);
    }
    async down(runner) {
        const dataSource = dataSourceOf(runner);
        await runner.query(`DROP TABLE ${stepNames(dataSource).table}`);
        await runner.query(`DROP TABLE ${recordNames(dataSource).table}`);
    }
}
function primaryKey(dataSource, { tablePath, primaryColumns }) {
    const columns = primaryColumns.map(({ databaseName }) => databaseName);
    return quote(dataSource.namingStrategy.primaryKeyName(tablePath, columns));
}
