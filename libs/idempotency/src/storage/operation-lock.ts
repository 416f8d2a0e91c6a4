import { createHash } from 'node:crypto';

import type { Operation } from '../core/operation.js';

/**
 * The number of the advisory lock that stands for an operation of one table: 64 bits of a SHA-256, as decimal text.
 *
 * Every part goes in with its length before it. Of two operations that share a number one is refused while the other
 * is at work, and nothing worse.
 */
export function lockOf(table: string, { tenant, endpoint, key }: Operation): string {
  const hash = createHash('sha256');
  for (const part of ['nestjs-idempotency', table, tenant, endpoint, key]) {
    const bytes = Buffer.from(part);
    const length = Buffer.allocUnsafe(8);
    length.writeBigUInt64BE(BigInt(bytes.byteLength));
    hash.update(length).update(bytes);
  }
  return hash.digest().readBigInt64BE().toString();
}
