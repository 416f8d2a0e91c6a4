/** What became of a step, as it is kept for later attempts. */
export type StepResult =
  | { readonly kind: 'succeeded'; readonly value: unknown }
  /** The provider refused for good: the same refusal is thrown on every attempt. */
  | { readonly kind: 'refused'; readonly message: string; readonly details: unknown };

/** The version of the form in which results are written; kept in the text, so that older rows can still be read. */
export const STEP_CODEC_VERSION = 1;

/** Marks what JSON has no form for; an object that has a member of this name is marked as well. */
const TAG = '$';

/**
 * Writes a result as text.
 *
 * Beyond JSON it keeps `undefined`, dates, bigints, bytes, `-0` and the numbers that are none. Objects of classes are
 * kept as their own enumerable members.
 *
 * @throws {TypeError} for what cannot be kept: functions, symbols, and values that contain themselves.
 */
export function encodeStepResult(result: StepResult): string {
  const value = result.kind === 'succeeded' ? result.value : { message: result.message, details: result.details };
  return JSON.stringify([STEP_CODEC_VERSION, result.kind, encode(value, [])]);
}

/** @throws {Error} for a text in a version that is not known here. */
export function decodeStepResult(text: string): StepResult {
  const [version, kind, encoded] = JSON.parse(text) as [number, StepResult['kind'], unknown];
  if (version !== STEP_CODEC_VERSION) {
    throw new Error(
      `The result of a step is kept in version ${version}, which this version of the library cannot read.`,
    );
  }
  const value = decode(encoded);
  return kind === 'succeeded' ? { kind, value } : { kind, ...(value as { message: string; details: unknown }) };
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
      throw new TypeError(`A ${typeof value} cannot be kept as the result of a step. Return plain data.`);
  }
}

function encodeObject(value: object, within: readonly object[]): unknown {
  if (within.includes(value)) throw new TypeError('A step returned a value that contains itself. Return plain data.');
  if (value instanceof Date) return { [TAG]: 'date', is: value.getTime() };
  if (value instanceof Uint8Array) return { [TAG]: 'bytes', is: Buffer.from(value).toString('base64') };
  const inside = [...within, value];
  if (Array.isArray(value)) return Array.from(value, (element: unknown) => encode(element, inside));
  const members = Object.entries(value).map(([name, member]) => [name, encode(member, inside)] as const);
  const encoded = Object.fromEntries(members);
  return Object.hasOwn(encoded, TAG) ? { [TAG]: 'object', is: encoded } : encoded;
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
