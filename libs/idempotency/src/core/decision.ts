import { type Asked, inVersionOf, sameFingerprint } from './fingerprint.js';
import type { Recording } from './recording.js';

/** The row of an operation as the store reports it, every time already judged by the database's clock. */
export type OperationRecord = {
  readonly token: string | null;
  readonly fingerprint: Uint8Array;
  readonly isExpired: boolean;
} & (
  | { readonly state: 'completed'; readonly recording: Recording }
  | {
      readonly state: 'in_progress';
      /** What is left of the lease, in milliseconds; null or not positive when nobody holds it. */
      readonly leaseLeftMs: number | null;
      /** An outside call may have been made: only the same payload may take the operation over. */
      readonly hasSteps: boolean;
    }
);

/** What an attempt that did not get the claim is to do. */
export type Decision =
  | { readonly kind: 'replay'; readonly recording: Recording }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'in_progress'; readonly leaseLeftMs: number }
  /** The record's fingerprint is of a version that is not known here: nobody can tell what was asked. */
  | { readonly kind: 'incomparable' }
  /** `fingerprint` is what was asked, in the version that the record holds: only that one takes it over. */
  | { readonly kind: 'claimable'; readonly fingerprint: Uint8Array };

/**
 * What a record means for an attempt.
 *
 * The mirror of the claim statement's WHERE: `claimable` exactly where that statement would take the row. The
 * fingerprint is compared before the state, so another payload is a mismatch also while the first is in flight.
 */
export function decide(record: OperationRecord | null, asked: Asked): Decision {
  if (record === null || isForgotten(record)) return { kind: 'claimable', fingerprint: asked.fingerprint };
  const fingerprint = inVersionOf(record.fingerprint, asked);
  if (fingerprint === null) return { kind: 'incomparable' };
  if (!sameFingerprint(record.fingerprint, fingerprint)) return { kind: 'mismatch' };
  if (record.state === 'completed') return { kind: 'replay', recording: record.recording };
  const leaseLeftMs = record.leaseLeftMs ?? 0;
  return leaseLeftMs > 0 ? { kind: 'in_progress', leaseLeftMs } : { kind: 'claimable', fingerprint };
}

/** Past its retention, with nobody at work and no outside call begun: whatever was asked, it is a new operation. */
function isForgotten(record: OperationRecord): boolean {
  if (!record.isExpired) return false;
  return record.state === 'completed' || ((record.leaseLeftMs ?? 0) <= 0 && !record.hasSteps);
}
