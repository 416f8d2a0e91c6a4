import canonicalizeModule from 'canonicalize';

import { IdempotencyError } from './errors.js';

// Its types speak of an ES default export; what the module exports is the function itself.
const canonicalize = canonicalizeModule as unknown as (value: unknown) => string | undefined;

/** The deepest nesting accepted; far beyond any sane payload, far below what exhausts the stack. */
export const MAX_DEPTH = 512;

/**
 * The canonical form (RFC 8785) of a value as a JSON parser delivers it: equal for equal values, other for others.
 *
 * JSON such as `1e400` parses to an infinite number, which RFC 8785 cannot express. It is written as null, and where it
 * stood is appended behind a NUL, which no canonical text contains: it equals neither null nor its negative.
 *
 * @throws {IdempotencyError} `idempotency-payload-invalid` when nested deeper than {@link MAX_DEPTH}.
 */
export function canonicalJson(value: unknown): string {
  const infinities: string[] = [];
  const finite = withoutInfinities(value, 0, '$', infinities);
  const text = canonicalize(finite) ?? '';
  return infinities.length === 0 ? text : `${text}\0${infinities.sort().join('\0')}`;
}

/** The value itself, or a copy where infinite numbers had to be replaced. */
function withoutInfinities(value: unknown, depth: number, path: string, found: string[]): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    found.push(`${path}=${value}`);
    return null;
  }
  if (value === null || typeof value !== 'object') return value;
  if (depth === MAX_DEPTH) {
    throw new IdempotencyError(
      'idempotency-payload-invalid',
      `The payload is nested more than ${MAX_DEPTH} levels deep.`,
      { reason: 'depth' },
    );
  }
  let copy: Record<string, unknown> | unknown[] | undefined;
  for (const [name, child] of Object.entries(value)) {
    const kept = withoutInfinities(child, depth + 1, `${path}/${JSON.stringify(name)}`, found);
    if (kept === child) continue;
    copy ??= Array.isArray(value) ? [...(value as unknown[])] : { ...value };
    (copy as Record<string, unknown>)[name] = kept;
  }
  return copy ?? value;
}
