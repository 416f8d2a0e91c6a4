import type { Client } from 'pg';

/** Everything that the server knows of the tables in the schema `public` but those of TypeORM, a line each. */
export async function catalogue(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(`
    WITH tables AS (SELECT oid, relname, reloptions FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname ~ 'idempotency')
    SELECT concat_ws(' ', 'table', relname, reloptions::text) AS line FROM tables
    UNION ALL
    SELECT concat_ws(' ', 'column', relname, attnum, attname, format_type(atttypid, atttypmod),
        CASE WHEN attnotnull THEN 'NOT NULL' END, 'DEFAULT ' || pg_get_expr(adbin, adrelid))
      FROM tables JOIN pg_attribute a ON attrelid = tables.oid AND attnum > 0 AND NOT attisdropped
      LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    UNION ALL
    SELECT concat_ws(' ', 'constraint', relname, conname, pg_get_constraintdef(c.oid))
      FROM tables JOIN pg_constraint c ON conrelid = tables.oid
    UNION ALL
    SELECT concat_ws(' ', 'index', pg_get_indexdef(indexrelid), CASE WHEN NOT indisvalid THEN 'INVALID' END)
      FROM tables JOIN pg_index ON indrelid = tables.oid
    ORDER BY 1`);
  return rows.map(({ line }) => line);
}
