import type { ClaimStrategy } from '../../libs/idempotency/src/core/attempt.js';

export const LEASE: ClaimStrategy = { kind: 'lease' };
export const TRANSACTION: ClaimStrategy = { kind: 'transaction', isolation: 'READ COMMITTED' };
export const REPEATABLE: ClaimStrategy = { kind: 'transaction', isolation: 'REPEATABLE READ' };
export const SERIALIZABLE: ClaimStrategy = { kind: 'transaction', isolation: 'SERIALIZABLE' };

/** Every way to claim an operation, by its name in the titles of tests. */
export const STRATEGIES: [name: string, strategy: ClaimStrategy][] = [
  ['a lease', LEASE],
  ['a transaction', TRANSACTION],
  ['a repeatable transaction', REPEATABLE],
  ['a serializable transaction', SERIALIZABLE],
];
