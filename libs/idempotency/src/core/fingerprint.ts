import { createHash, timingSafeEqual } from 'node:crypto';

/** The version of the algorithm that new records hold, stored as the fingerprint's first byte. */
export const FINGERPRINT_VERSION = 1;

/** What one request asked. */
export interface Asked {
  /** See `fingerprint()`. */
  readonly fingerprint: Uint8Array;
  /** The same request under an earlier version of the algorithm, which old records hold; null if it is not known. */
  fingerprintIn?(version: number): Uint8Array | null;
}

/**
 * What was asked, as 33 bytes: the algorithm's version and a SHA-256 over the parts.
 *
 * Every part goes in with its length before it, so that no two lists of parts share a hash input.
 */
export function fingerprint(parts: readonly (string | Uint8Array)[], version = FINGERPRINT_VERSION): Uint8Array {
  const hash = createHash('sha256');
  const length = Buffer.allocUnsafe(8);
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'utf8') : part;
    length.writeBigUInt64BE(BigInt(bytes.byteLength));
    hash.update(length).update(bytes);
  }
  return Buffer.concat([Buffer.of(version), hash.digest()]);
}

/** What was asked, in the version of the algorithm in which `stored` was made; null where that is not known here. */
export function inVersionOf(stored: Uint8Array, asked: Asked): Uint8Array | null {
  const version = stored[0]!;
  return version === asked.fingerprint[0] ? asked.fingerprint : (asked.fingerprintIn?.(version) ?? null);
}

/** Whether two fingerprints say that the same thing was asked. */
export function sameFingerprint(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}
