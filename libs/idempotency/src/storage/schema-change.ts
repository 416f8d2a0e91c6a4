/** One change of the library's tables. Made once; a statement that finds it made does nothing. */
export type SchemaChange =
  | { readonly kind: 'table'; readonly table: string; readonly sql: string }
  | { readonly kind: 'column'; readonly table: string; readonly column: string; readonly sql: string }
  | { readonly kind: 'index'; readonly table: string; readonly index: string; readonly sql: string };

/** All names are quoted, here and below. */
export function newTable(table: string, definition: string): SchemaChange {
  return { kind: 'table', table, sql: `CREATE TABLE IF NOT EXISTS ${table} ${definition}` };
}

/**
 * A column that every earlier version can live with: one that may be null, or has a constant default, which PostgreSQL
 * adds without writing to the rows.
 */
export function newColumn(table: string, column: string, definition: string): SchemaChange {
  const sql = `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS ${column} ${definition}`;
  return { kind: 'column', table, column, sql };
}

/** @param definition what stands behind `ON <table>`, such as `(expires_at)`. */
export function newIndex(table: string, index: string, definition: string): SchemaChange {
  return { kind: 'index', table, index, sql: `CREATE INDEX IF NOT EXISTS ${index} ON ${table} ${definition}` };
}

/** The same index, made without keeping anybody from writing; not possible inside a transaction. */
export function concurrently(sql: string): string {
  return sql.replace(/^CREATE INDEX/, 'CREATE INDEX CONCURRENTLY');
}
