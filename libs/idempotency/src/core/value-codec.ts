/** Marks what JSON has no form for; an object that has a member of this name is marked as well. */
const TAG = '$';

/**
 * A value in a form that JSON keeps whole.
 *
 * Beyond JSON it keeps `undefined`, dates, bigints, bytes, `-0` and the numbers that are none. Objects of classes are
 * kept as what their `toJSON()` returns, or else as their own enumerable members.
 *
 * @throws {TypeError} for what cannot be kept: functions, symbols, and values that contain themselves.
 */
export function encodeValue(value: unknown): unknown {
  return encode(value, []);
}

/** The value that `encodeValue()` was given, as plain data. */
export function decodeValue(encoded: unknown): unknown {
  return decode(encoded);
}

function encode(value: unknown, within: readonly object[]): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : { [TAG]: 'number', is: numberName(value) };
    case 'undefined':
      return { [TAG]: 'undefined' };
    case 'bigint':
      return { [TAG]: 'bigint', is: String(value) };
    case 'object':
      return value === null ? null : encodeObject(value, within);
    default:
      throw new TypeError(`A ${typeof value} cannot be kept. Return plain data.`);
  }
}

function encodeObject(value: object, within: readonly object[]): unknown {
  if (within.includes(value)) throw new TypeError('A value that contains itself cannot be kept. Return plain data.');
  if (value instanceof Date) return { [TAG]: 'date', is: value.getTime() };
  if (value instanceof Uint8Array) return { [TAG]: 'bytes', is: Buffer.from(value).toString('base64') };
  const inside = [...within, value];
  if (hasJsonForm(value)) return encode(value.toJSON(), inside);
  if (Array.isArray(value)) return Array.from(value, (element: unknown) => encode(element, inside));
  const members = Object.entries(value).map(([name, member]) => [name, encode(member, inside)] as const);
  const encoded = Object.fromEntries(members);
  return Object.hasOwn(encoded, TAG) ? { [TAG]: 'object', is: encoded } : encoded;
}

/** Whether it says itself how it is to be written, as amounts and points in time of many libraries do. */
function hasJsonForm(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

interface Tagged {
  readonly [TAG]: 'number' | 'undefined' | 'bigint' | 'date' | 'bytes' | 'object';
  readonly is: unknown;
}

function decode(encoded: unknown): unknown {
  if (typeof encoded !== 'object' || encoded === null) return encoded;
  if (Array.isArray(encoded)) return encoded.map(decode);
  if (!Object.hasOwn(encoded, TAG)) return decodeMembers(encoded);
  const { [TAG]: tag, is } = encoded as Tagged;
  switch (tag) {
    case 'number':
      return Number(is);
    case 'undefined':
      return undefined;
    case 'bigint':
      return BigInt(is as string);
    case 'date':
      // eslint-disable-next-line no-restricted-syntax -- a time that was kept, not the time of day
      return new Date(is === null ? NaN : (is as number));
    case 'bytes':
      return new Uint8Array(Buffer.from(is as string, 'base64'));
    case 'object':
      return decodeMembers(is as object);
  }
}

function decodeMembers(encoded: object): object {
  return Object.fromEntries(Object.entries(encoded).map(([name, member]) => [name, decode(member)]));
}

function numberName(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}
