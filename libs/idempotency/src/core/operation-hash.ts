import { createHash } from 'node:crypto';

import type { Operation } from './operation.js';

const DIGITS = 16;

/**
 * A name for an operation that can be logged: the first 16 hexadecimal digits of the SHA-256 of its tenant, endpoint
 * and key as a JSON array. The same everywhere, so that lines can be joined; the key cannot be read from it.
 */
export function operationHash({ tenant, endpoint, key }: Operation): string {
  const text = JSON.stringify([tenant, endpoint, key]);
  return createHash('sha256').update(text).digest('hex').slice(0, DIGITS);
}
