import { recordNames, stepNames } from './table-names.js';
const WRITTEN_TYPES = { timestamptz: 'timestamp with time zone' };
export async function assertSchema(dataSource) {
    const defects = [];
    const runner = dataSource.createQueryRunner('master');
    try {
        for (const names of [recordNames(dataSource), stepNames(dataSource)]) {
            defects.push(...(await defectsOf(runner, names)));
        }
    }
    finally {
        await runner.release();
    }
    if (defects.length === 0)
        return;
    throw new Error(`The idempotency tables cannot serve:\n${defects.map((defect) => `  - ${defect}`).join('\n')}\n` +
        "Add the library's migrations to the data source (`migrations: [...yours, ...idempotencyMigrations]`) " +
        'and run them: `dataSource.runMigrations()`, or `npx typeorm migration:run -d <your data source>`.');
}
async function defectsOf(runner, { table, metadata }) {
    const rows = (await runner.query(`SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type,
            coalesce(a.attnum = ANY (i.indkey::int2[]), false) AS is_key
     FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
     WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped`, [table]));
    if (rows.length === 0)
        return [`table ${table} does not exist, or this role cannot see it`];
    return [...columnDefects(table, metadata, rows), ...keyDefects(table, metadata, rows)];
}
function columnDefects(table, metadata, rows) {
    return metadata.columns.flatMap(({ databaseName, type }) => {
        const found = rows.find(({ name }) => name === databaseName);
        if (!found)
            return [`column ${table}.${databaseName} does not exist`];
        const expected = WRITTEN_TYPES[String(type)] ?? String(type);
        return found.type === expected ? [] : [`column ${table}.${databaseName} is ${found.type}, not ${expected}`];
    });
}
function keyDefects(table, metadata, rows) {
    const expected = metadata.primaryColumns.map(({ databaseName }) => databaseName).sort();
    const found = rows
        .filter((row) => row.is_key)
        .map(({ name }) => name)
        .sort();
    return expected.join() === found.join()
        ? []
        : [`the primary key of ${table} is (${found.join(', ')}), not (${expected.join(', ')})`];
}
