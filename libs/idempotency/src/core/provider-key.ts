import { createHmac } from 'node:crypto';

import type { Operation } from './operation.js';

/**
 * The key under which a provider knows one step: the same on every try, another for every other tenant, endpoint, key,
 * payload and step, and not to be guessed without the secret.
 *
 * 64 hexadecimal characters of an HMAC-SHA256. Every part goes in with its length before it.
 */
export function providerKey(
  secret: string | Uint8Array,
  { tenant, endpoint, key }: Operation,
  fingerprint: Uint8Array,
  step: string,
): string {
  const hmac = createHmac('sha256', secret);
  const length = Buffer.allocUnsafe(8);
  for (const part of ['step', tenant, endpoint, key, fingerprint, step]) {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'utf8') : part;
    length.writeBigUInt64BE(BigInt(bytes.byteLength));
    hmac.update(length).update(bytes);
  }
  return hmac.digest('hex');
}

/** The same as a UUID (RFC 9562, version 8), for providers that want that form: its first 122 free bits. */
export function uuidOf(providerKey: string): string {
  const bytes = Buffer.from(providerKey.slice(0, 32), 'hex');
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
