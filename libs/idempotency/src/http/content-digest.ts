import { parseDictionary } from 'structured-headers';

import { IdempotencyError } from '../core/errors.js';
import { headerValues } from './header-values.js';

/** The algorithms that tell contents apart (RFC 9530, section 5), and the length of their digests in bytes. */
const ALGORITHMS = [
  ['sha-256', 32],
  ['sha-512', 64],
] as const;

export interface ContentDigest {
  readonly algorithm: (typeof ALGORITHMS)[number][0];
  readonly digest: Uint8Array;
}

/**
 * What the caller says is the digest of the request's content (`Content-Digest`, RFC 9530, section 2); null where it
 * says nothing, or knows only algorithms that do not tell contents apart.
 *
 * SHA-256 where both are given, so that a retry that gives one more is the same request. It is not verified: who lies
 * about it is taken at his word, and gets his own earlier answer.
 *
 * @throws {IdempotencyError} `idempotency-payload-invalid`, reason `digest`, for a field that cannot be read.
 */
export function contentDigest(rawHeaders: readonly string[]): ContentDigest | null {
  const members = membersOf(headerValues(rawHeaders, 'Content-Digest').join(', '));
  for (const [algorithm, length] of ALGORITHMS) {
    const member = members.get(algorithm);
    if (member === undefined) continue;
    const [value] = member;
    if (!(value instanceof ArrayBuffer) || value.byteLength !== length) throw malformed();
    return { algorithm, digest: new Uint8Array(value) };
  }
  return null;
}

function membersOf(field: string): ReturnType<typeof parseDictionary> {
  try {
    return parseDictionary(field);
  } catch {
    throw malformed();
  }
}

function malformed(): IdempotencyError {
  return new IdempotencyError(
    'idempotency-payload-invalid',
    'The Content-Digest header cannot be read. It looks like `sha-256=:<the digest in base64>:`.',
    { reason: 'digest' },
  );
}
