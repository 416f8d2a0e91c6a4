import { parseItem } from 'structured-headers';

import { IdempotencyError } from '../core/errors.js';
import { checkedKey, invalidKey } from '../core/key.js';

/** The request header that carries the key, unless the module is told another. */
export const DEFAULT_KEY_HEADER = 'Idempotency-Key';

/**
 * The key a request carries in its raw header list; undefined when there is none.
 *
 * Taken as a structured string (RFC 8941, section 3.3.3) when quoted, else as it stands. The raw list is read because
 * Node joins repeated lines with a comma.
 *
 * @throws {IdempotencyError} `idempotency-key-invalid`
 */
export function keyFromHeaders(rawHeaders: readonly string[], header: string): string | undefined {
  const name = header.toLowerCase();
  let found: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() !== name) continue;
    if (found !== undefined) throw invalidKey('multiple');
    found = rawHeaders[i + 1]!;
  }
  return found === undefined ? undefined : checkedKey(unquoted(found.trim()));
}

export function keyMissing(header: string): IdempotencyError {
  return new IdempotencyError(
    'idempotency-key-missing',
    `This endpoint requires a key for each operation. Send a unique value, such as a UUID, in ${header}.`,
  );
}

function unquoted(value: string): string {
  if (/[^\x20-\x7e]/.test(value)) throw invalidKey('charset');
  if (value.startsWith('"')) return structuredString(value);
  if (/[\s",]/.test(value)) throw invalidKey('syntax');
  return value;
}

function structuredString(value: string): string {
  try {
    const bare: unknown = parseItem(value)[0];
    if (typeof bare === 'string') return bare;
  } catch {
    // Whatever the parser has to say repeats the key.
  }
  throw invalidKey('syntax');
}
