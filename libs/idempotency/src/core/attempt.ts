import type { Operation } from './operation.js';

/** One arrival of an operation. */
export interface Attempt {
  readonly operation: Operation;
  /** What was asked; see `fingerprint()`. */
  readonly fingerprint: Uint8Array;
  /** How long a claim is honoured without renewal, in milliseconds. */
  readonly leaseMs: number;
  /** How long the recording can be replayed, in milliseconds from the claim. */
  readonly retentionMs: number;
}
