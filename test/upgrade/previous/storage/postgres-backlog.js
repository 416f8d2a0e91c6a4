import { queryPrimary } from './primary.js';
import { interval } from './statements.js';
import { recordNames, stepNames } from './table-names.js';
export class PostgresBacklog {
    constructor(dataSource) {
        this.dataSource = dataSource;
        const { table, columns: c } = recordNames(dataSource);
        const { table: steps, columns: s } = stepNames(dataSource);
        const found = `SELECT r.${c.tenant} AS tenant, r.${c.endpoint} AS endpoint, r.${c.key} AS key, r.${c.fingerprint} AS fingerprint`;
        this.abandonedText = `
WITH last AS (
  SELECT ${s.tenant} AS tenant, ${s.endpoint} AS endpoint, ${s.key} AS key, max(greatest(${s.intendedAt}, ${s.finishedAt})) AS at
  FROM ${steps} WHERE ${s.endpoint} = ANY ($1) GROUP BY 1, 2, 3)
${found}
FROM last JOIN ${table} AS r ON r.${c.tenant} = last.tenant AND r.${c.endpoint} = last.endpoint AND r.${c.key} = last.key
WHERE last.at <= now() - $2::interval AND r.${c.state} = 'in_progress' AND (r.${c.lockedUntil} IS NULL OR r.${c.lockedUntil} <= now())
ORDER BY last.at LIMIT $3`;
        this.findText = `
${found} FROM ${table} AS r
WHERE r.${c.tenant} = $1 AND r.${c.endpoint} = $2 AND r.${c.key} = $3 AND r.${c.state} = 'in_progress' AND EXISTS (
  SELECT FROM ${steps} AS s WHERE s.${s.tenant} = $1 AND s.${s.endpoint} = $2 AND s.${s.key} = $3 AND s.${s.name} = $4)`;
    }
    async abandoned(endpoints, afterMs, limit) {
        return this.query(this.abandonedText, [endpoints, interval(afterMs), limit]);
    }
    async find({ tenant, endpoint, key }, step) {
        return (await this.query(this.findText, [tenant, endpoint, key, step]))[0] ?? null;
    }
    async query(text, values) {
        const rows = await queryPrimary(this.dataSource, text, values);
        return rows.map(({ fingerprint, ...operation }) => ({ operation, fingerprint }));
    }
}
