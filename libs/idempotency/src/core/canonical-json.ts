import canonicalizeModule from 'canonicalize';

import { IdempotencyError } from './errors.js';

// Its types speak of an ES default export; what the module exports is the function itself.
const canonicalize = canonicalizeModule as unknown as (value: unknown) => string | undefined;

/** The deepest nesting accepted; far beyond any sane payload, far below what exhausts the stack. */
export const MAX_DEPTH = 512;

/**
 * The canonical form (RFC 8785) of a value as a JSON parser delivers it: equal for equal values, other for others.
 *
 * What a parser can deliver and RFC 8785 cannot tell apart is written as null, and where it stood is appended behind a
 * NUL, which no canonical text contains: an infinite number (`1e400`), `-0`, and `undefined` as code puts it into
 * values. None of them equals null, 0 or an absent member.
 *
 * @throws {IdempotencyError} `idempotency-payload-invalid` when nested deeper than {@link MAX_DEPTH};
 *   `idempotency-payload-unsupported` for what is no JSON value, such as a Map or an object of a class.
 */
export function canonicalJson(value: unknown): string {
  const found: string[] = [];
  const expressible = withoutInexpressible(value, [], found);
  const text = canonicalize(expressible)!;
  return found.length === 0 ? text : `${text}\0${found.sort().join('\0')}`;
}

/** The value itself, or a copy where something had to be replaced. */
function withoutInexpressible(value: unknown, path: (string | number)[], found: string[]): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      found.push(`${pointer(path)}=${Object.is(value, -0) ? '-0' : value}`);
      return null;
    case 'undefined':
      found.push(`${pointer(path)}=undefined`);
      return null;
    case 'object':
      return value === null ? null : expressibleObject(value, path, found);
    default:
      throw noJson();
  }
}

function expressibleObject(value: object, path: (string | number)[], found: string[]): unknown {
  if (path.length === MAX_DEPTH) throw tooDeep();
  if (Array.isArray(value)) {
    return withReplaced(value as unknown[], value.keys(), () => [...(value as unknown[])], path, found);
  }
  if (!isRecord(value)) throw noJson();
  return withReplaced(value, Object.keys(value), () => ({ ...value }), path, found);
}

function withReplaced<Name extends string | number>(
  value: { readonly [name in Name]: unknown },
  names: Iterable<Name>,
  copyOf: () => { [name in Name]: unknown },
  path: (string | number)[],
  found: string[],
): unknown {
  let copy: { [name in Name]: unknown } | undefined;
  for (const name of names) {
    const child = value[name];
    path.push(name);
    const kept = withoutInexpressible(child, path, found);
    path.pop();
    if (kept !== child) (copy ??= copyOf())[name] = kept;
  }
  return copy ?? value;
}

/** Whether all there is to an object are its members: parsers make theirs with an empty prototype, or none. */
function isRecord(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function pointer(path: readonly (string | number)[]): string {
  return ['$', ...path.map((name) => JSON.stringify(String(name)))].join('/');
}

function tooDeep(): IdempotencyError {
  return new IdempotencyError(
    'idempotency-payload-invalid',
    `The payload is nested more than ${MAX_DEPTH} levels deep.`,
    { reason: 'depth' },
  );
}

function noJson(): IdempotencyError {
  return new IdempotencyError(
    'idempotency-payload-unsupported',
    'The payload was read into something that is no JSON value, so it cannot be compared with another. ' +
      'The endpoint needs a `fingerprint` function.',
    { reason: 'value' },
  );
}
