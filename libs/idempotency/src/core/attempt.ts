import type { Asked } from './fingerprint.js';
import type { Operation } from './operation.js';

/** How strictly a transaction is kept apart from others. */
export type Isolation = 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE';

/**
 * How an operation is claimed.
 *
 * - `lease`: by a committed row that is honoured until its lease runs out
 * - `transaction`: by the work's own transaction, which leaves nothing behind when its worker dies
 */
export type ClaimStrategy =
  { readonly kind: 'lease' } | { readonly kind: 'transaction'; readonly isolation: Isolation };

/** What an endpoint says of the claims of its operations. */
export interface ClaimTerms {
  readonly strategy: ClaimStrategy;
  /** How long a claim is honoured without a sign of life, in milliseconds. */
  readonly leaseMs: number;
  /** How long the recording can be replayed, in milliseconds from the claim. */
  readonly retentionMs: number;
  /** How much longer the key is remembered as used, in milliseconds. Default 0. */
  readonly tombstoneMs?: number;
}

/** One arrival of an operation. */
export interface Attempt extends Asked, ClaimTerms {
  readonly operation: Operation;
  /**
   * Tries that fail are counted up to this one, across processes and their deaths; after it the count starts again.
   * Where it is absent, a failure leaves nothing behind. Under `transaction` nothing is ever counted.
   */
  readonly countedTries?: number;
}

/** The terms alone, of what says other things as well. */
export function claimTerms({ strategy, leaseMs, retentionMs, tombstoneMs = 0 }: ClaimTerms): Required<ClaimTerms> {
  return { strategy, leaseMs, retentionMs, tombstoneMs };
}
