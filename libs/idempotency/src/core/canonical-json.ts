import { IdempotencyError } from './errors.js';

/** The deepest nesting accepted; far beyond any sane payload, far below what exhausts the stack. */
export const MAX_DEPTH = 512;

/**
 * The canonical form (RFC 8785) of a value as a JSON parser delivers it: equal for equal values, other for others.
 *
 * What a parser can deliver and the RFC cannot tell apart or express is written as in JavaScript, which no canonical
 * JSON contains: `-0`, the infinite numbers that `1e400` becomes, and `undefined`, as code leaves it in values. It is
 * written where it stands, at no greater cost than any other value: a payload full of it must not be a weapon.
 *
 * @throws {IdempotencyError} `idempotency-payload-invalid` when nested deeper than {@link MAX_DEPTH};
 *   `idempotency-payload-unsupported` for what is no JSON value, such as a Map or an object of a class.
 */
export function canonicalJson(value: unknown): string {
  const written: string[] = [];
  write(value, 0, written);
  return written.join('');
}

function write(value: unknown, depth: number, written: string[]): void {
  switch (typeof value) {
    case 'string':
      written.push(JSON.stringify(value));
      return;
    case 'number':
      written.push(Object.is(value, -0) ? '-0' : String(value));
      return;
    case 'boolean':
    case 'undefined':
      written.push(String(value));
      return;
    case 'object':
      if (value === null) written.push('null');
      else writeObject(value, depth, written);
      return;
    default:
      throw noJson();
  }
}

function writeObject(value: object, depth: number, written: string[]): void {
  if (depth === MAX_DEPTH) throw tooDeep();
  if (Array.isArray(value)) writeElements(value, depth, written);
  else if (isRecord(value)) writeMembers(value, depth, written);
  else throw noJson();
}

function writeElements(elements: readonly unknown[], depth: number, written: string[]): void {
  written.push('[');
  for (let i = 0; i < elements.length; i++) {
    if (i > 0) written.push(',');
    write(elements[i], depth + 1, written);
  }
  written.push(']');
}

function writeMembers(members: Readonly<Record<string, unknown>>, depth: number, written: string[]): void {
  // Sorted by UTF-16 code units, as the RFC asks (section 3.2.3).
  const names = Object.keys(members).sort();
  written.push('{');
  for (let i = 0; i < names.length; i++) {
    written.push(i > 0 ? ',' : '', JSON.stringify(names[i]), ':');
    write(members[names[i]!], depth + 1, written);
  }
  written.push('}');
}

/** Whether all there is to an object are its members: parsers make theirs with an empty prototype, or none. */
function isRecord(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
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
