import type { OperationRecord } from '../core/decision.js';
import type { Omission, RecordedHeader, Recording } from '../core/recording.js';

/** A row as the read statement returns it. */
export interface RecordRow {
  state: 'in_progress' | 'completed';
  token: string | null;
  fingerprint: Buffer;
  attempts: number;
  has_steps: boolean;
  is_past_retention: boolean;
  is_forgotten: boolean;
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
  const { state, token, fingerprint, is_past_retention: isPastRetention } = row;
  if (state === 'in_progress') {
    const isExpired = isPastRetention;
    return { state, token, fingerprint, isExpired, leaseLeftMs: row.lease_left_ms, hasSteps: row.has_steps };
  }
  return { state, token, fingerprint, isExpired: row.is_forgotten, recording: toRecording(row) };
}

/** Past its retention it is a tombstone, whether a sweep has made it one yet or not. */
function toRecording(row: RecordRow): Recording {
  const { status: given, resource } = row;
  const status = given ?? 200;
  if (row.is_past_retention) return { status, headers: [], body: null, omitted: 'expired', resource };
  return {
    status,
    headers: JSON.parse(row.headers ?? '[]') as RecordedHeader[],
    body: row.body,
    omitted: row.omitted as Omission | null,
    ...(row.key_id !== null && { keyId: row.key_id }),
    resource,
  };
}
