import type { OperationRecord } from '../core/decision.js';
import type { Omission, RecordedHeader } from '../core/recording.js';

/** A row as the read statement returns it. */
export interface RecordRow {
  state: 'in_progress' | 'completed';
  token: string | null;
  fingerprint: Buffer;
  attempts: number;
  has_steps: boolean;
  is_expired: boolean;
  lease_left_ms: number | null;
  status: number | null;
  headers: string | null;
  body: Buffer | null;
  omitted: string | null;
  key_id: string | null;
  resource: string | null;
}

export function toRecord(row: RecordRow | null): OperationRecord | null {
  if (row === null) return null;
  const { state, token, fingerprint, is_expired: isExpired } = row;
  if (state === 'in_progress') {
    return { state, token, fingerprint, isExpired, leaseLeftMs: row.lease_left_ms, hasSteps: row.has_steps };
  }
  const recording = {
    status: row.status ?? 200,
    headers: JSON.parse(row.headers ?? '[]') as RecordedHeader[],
    body: row.body,
    omitted: row.omitted as Omission | null,
    ...(row.key_id !== null && { keyId: row.key_id }),
    resource: row.resource,
  };
  return { state, token, fingerprint, isExpired, recording };
}
