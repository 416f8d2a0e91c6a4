import type { Witness } from '../wire/ledger.js';

export type RecordState = 'in_progress' | 'completed';

/** A record of the library, as another connection sees it. */
export interface RecordRow {
  readonly tenant: string;
  readonly endpoint: string;
  readonly key: string;
  readonly state: RecordState;
  readonly attempts: number;
  readonly leaseMs: number | null;
  readonly leaseLeftMs: number | null;
  readonly retentionMs: number;
  /** For how long it is replayed, where its key is remembered for longer. */
  readonly replaysMs: number | null;
  readonly expiresAt: string;
  readonly status: number | null;
  readonly headers: string | null;
  readonly body: Buffer | null;
  readonly omitted: string | null;
  readonly keyId: string | null;
  readonly resource: string | null;
}

const RECORDS = `
SELECT tenant, endpoint, key, state, attempts,
  (extract(epoch FROM locked_until - locked_at) * 1000)::float8 AS "leaseMs",
  (extract(epoch FROM locked_until - statement_timestamp()) * 1000)::float8 AS "leaseLeftMs",
  (extract(epoch FROM expires_at - created_at) * 1000)::float8 AS "retentionMs",
  (extract(epoch FROM replays_until - created_at) * 1000)::float8 AS "replaysMs", expires_at::text AS "expiresAt",
  response_status AS status, response_headers AS headers, response_body AS body, response_omitted AS omitted,
  response_key_id AS "keyId", resource
FROM idempotency_records WHERE key ILIKE '%' || $1 || '%' ORDER BY created_at, tenant, endpoint`;

/** The records of every operation whose key names the run. */
export async function recordsOf(run: string, witness: Witness): Promise<RecordRow[]> {
  return (await witness.query(RECORDS, [run])) as unknown as RecordRow[];
}

/** The rows that the run has committed to the business table. */
export async function paymentsOf(run: string, witness: Witness): Promise<number> {
  const [row] = await witness.query('SELECT count(*)::int AS count FROM payments WHERE run = $1', [run]);
  return row!.count as number;
}
