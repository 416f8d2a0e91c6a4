import { IdempotencyError } from './errors.js';

/** The longest key accepted, in characters, after unquoting. */
export const MAX_KEY_LENGTH = 255;

export type KeyDefect = 'empty' | 'too_long' | 'charset' | 'syntax' | 'multiple';

/**
 * Accepts a key exactly as given, or refuses it with `idempotency-key-invalid`.
 *
 * A key is 1 to 255 printable ASCII characters and not blank: what a structured header string (RFC 8941, section 3.3.3)
 * can carry.
 */
export function checkedKey(key: unknown): string {
  // Keys come out of messages and from functions of the application, where no compiler has seen them.
  if (typeof key !== 'string') throw invalidKey('syntax');
  if (key.trim() === '') throw invalidKey('empty');
  if (key.length > MAX_KEY_LENGTH) throw invalidKey('too_long');
  if (!/^[\x20-\x7e]+$/.test(key)) throw invalidKey('charset');
  return key;
}

const REASONS: Record<KeyDefect, string> = {
  empty: 'The idempotency key is empty. Send a unique value, such as a UUID.',
  too_long: `The idempotency key is longer than ${MAX_KEY_LENGTH} characters.`,
  charset: 'The idempotency key may hold printable ASCII characters only.',
  syntax: 'The idempotency key is neither a quoted string nor a bare token.',
  multiple: 'The request carries more than one idempotency key. Send the header once.',
};

/** The refusal of a key that cannot be used; its message never repeats the key. */
export function invalidKey(defect: KeyDefect): IdempotencyError {
  return new IdempotencyError('idempotency-key-invalid', REASONS[defect], { reason: defect });
}
