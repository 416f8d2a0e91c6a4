import { createHash, timingSafeEqual } from 'node:crypto';

/** The version of the algorithm, stored as the fingerprint's first byte. */
export const FINGERPRINT_VERSION = 1;

/**
 * What was asked, as 33 bytes: the algorithm's version and a SHA-256 over the parts.
 *
 * Every part goes in with its length before it, so that no two lists of parts share a hash input.
 */
export function fingerprint(parts: readonly (string | Uint8Array)[]): Uint8Array {
  const hash = createHash('sha256');
  const length = Buffer.allocUnsafe(8);
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'utf8') : part;
    length.writeBigUInt64BE(BigInt(bytes.byteLength));
    hash.update(length).update(bytes);
  }
  return Buffer.concat([Buffer.of(FINGERPRINT_VERSION), hash.digest()]);
}

/** Whether two fingerprints say that the same thing was asked. */
export function sameFingerprint(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}
