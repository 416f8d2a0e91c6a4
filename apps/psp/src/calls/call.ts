import type { Operation } from './operation.js';

/** One arrival of a request that is authenticated and well-formed. */
export interface Call {
  readonly operation: Operation;
  readonly merchantId: string;
  /** As it was sent, whether keys are kept or not. */
  readonly key: string | undefined;
  /** The charge that it names. */
  readonly chargeId: string | undefined;
  /** By which the caller knows what it is about: its own reference, and that of the charge it names. */
  readonly references: readonly string[];
}
