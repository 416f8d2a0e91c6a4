import type { DataSource } from 'typeorm';

import { queryPrimary } from './primary.js';
import { recordNames, stepNames } from './table-names.js';

/** What the protocol does to each of its tables. */
const PRIVILEGES = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/*
 * $1 tables, $2 privileges. What an operator has to say, a row each.
 *
 * Without standard_conforming_strings a backslash ends strings elsewhere than the library sees them end, and could hide
 * a COMMIT from it.
 */
const REMEDIES = `
SELECT 'GRANT ' || string_agg(privilege, ', ') || ' ON ' || name || ' TO ' || quote_ident(current_user) AS remedy
FROM unnest($1::text[]) AS name, unnest($2::text[]) AS privilege
WHERE NOT has_table_privilege(to_regclass(name), privilege) GROUP BY name
UNION ALL
SELECT 'ALTER ROLE ' || quote_ident(current_user) || ' SET standard_conforming_strings = on'
WHERE current_setting('standard_conforming_strings') = 'off'`;

/**
 * Makes sure that the application's role may do to the library's tables what has to be done, in sessions that read SQL
 * as the library does.
 *
 * @throws {Error} naming what to grant, or to set.
 */
export async function assertAccess(dataSource: DataSource): Promise<void> {
  const tables = [recordNames(dataSource), stepNames(dataSource)].map(({ table }) => table);
  const remedies = await queryPrimary<{ remedy: string }>(dataSource, REMEDIES, [tables, PRIVILEGES]);
  if (remedies.length === 0) return;
  throw new Error(
    "The application's role cannot work with the idempotency tables. Whoever owns them says:\n" +
      remedies.map(({ remedy }) => `  ${remedy};`).join('\n'),
  );
}
