import type { IncomingMessage } from 'node:http';
import { invalidKey } from './key-problems.js';

/** The key as it was sent, byte for byte. */
export function keyOf({ headersDistinct }: IncomingMessage): string | undefined {
  return headersDistinct['idempotency-key']?.join(', ');
}

export function assertValidKey(key: string): void {
  if (key.trim() === '' || key.length > 255) throw invalidKey();
}
