import { schemaSql } from '../../storage/schema-sql.js';
import { type DatabaseOptions, unconnected, withDatabase } from '../database.js';
import { answer } from '../output.js';

export interface SchemaOptions extends DatabaseOptions {
  readonly json?: boolean;
}

/** Prints the statements that make the tables; no database is needed. */
export async function printSchema(options: SchemaOptions): Promise<void> {
  const sql = schemaSql(await unconnected(options));
  answer(options.json ?? false, { sql }, () => sql.trimEnd());
}

/** Finds out whether the tables can serve this version. */
export async function checkSchema(options: SchemaOptions): Promise<void> {
  await withDatabase(options, ({ name }) => {
    answer(options.json ?? false, { serves: true }, () => `The tables can serve: ${name}`);
    return Promise.resolve();
  });
}
