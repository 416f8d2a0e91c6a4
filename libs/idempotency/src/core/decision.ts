import { sameFingerprint } from './fingerprint.js';
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
  | { readonly kind: 'claimable' };

/**
 * What a record means for an attempt with this fingerprint.
 *
 * The mirror of the claim statement's WHERE: `claimable` exactly where that statement would take the row. The
 * fingerprint is compared before the state, so another payload is a mismatch also while the first is in flight.
 */
export function decide(record: OperationRecord | null, fingerprint: Uint8Array): Decision {
  if (record === null) return { kind: 'claimable' };
  const isSame = sameFingerprint(record.fingerprint, fingerprint);
  switch (record.state) {
    case 'completed':
      if (record.isExpired) return { kind: 'claimable' };
      return isSame ? { kind: 'replay', recording: record.recording } : { kind: 'mismatch' };
    case 'in_progress': {
      const leaseLeftMs = record.leaseLeftMs ?? 0;
      const mayTakeOver = isSame || (record.isExpired && !record.hasSteps);
      if (leaseLeftMs <= 0 && mayTakeOver) return { kind: 'claimable' };
      return isSame ? { kind: 'in_progress', leaseLeftMs } : { kind: 'mismatch' };
    }
  }
}
