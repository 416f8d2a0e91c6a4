import { type BodyProtection, openBody, sealBody } from './body-protection.js';
import type { Operation } from './operation.js';
import type { RecordedHeader, Recording } from './recording.js';
import { assertKept, responseUnavailable } from './refusal.js';
import { decodeValue, encodeValue } from './value-codec.js';

/** What is kept of the values that work returns. */
export interface ValueKeeping {
  /** The longest value that is kept, in bytes as it is written. */
  readonly limitBytes: number;
  /** Whether values are left out on purpose. */
  readonly isStatusOnly: boolean;
  /** What values are encrypted with. */
  readonly protection: BodyProtection | undefined;
}

/** The version of the form in which values are written; kept with them, so that older ones can still be read. */
const VALUE_VERSION = 1;

/** A value has no status and no headers; a record holds these for whoever looks at it. */
const STATUS = 200;
const HEADERS: readonly RecordedHeader[] = [['Content-Type', 'application/json']];

/**
 * A value as those are given it who ask again.
 *
 * @throws {TypeError} for what is no plain data; see `encodeValue()`.
 */
export function plainData(value: unknown): unknown {
  return decodeValue(encodeValue(value));
}

/**
 * What is kept of a value for those who ask again.
 *
 * Rejects when it is no plain data, or cannot be encrypted where it has to be.
 */
export async function recordingOfValue(
  value: unknown,
  { limitBytes, isStatusOnly, protection }: ValueKeeping,
  operation: Operation,
): Promise<Recording> {
  const recording = { status: STATUS, headers: HEADERS, body: null, omitted: null, resource: null };
  // Looked at in any case: that it cannot be kept must not come out on the day when it is to be.
  const bytes = Buffer.from(JSON.stringify([VALUE_VERSION, encodeValue(value)]));
  if (isStatusOnly) return recording;
  if (bytes.byteLength > limitBytes) return { ...recording, omitted: 'too_large' };
  return { ...recording, ...(await sealBody(bytes, protection, operation)) };
}

/**
 * The value of a recording, as plain data; undefined where values are left out.
 *
 * Rejects with `idempotency-response-unavailable` where it was too large, or cannot be decrypted or read, and with
 * `idempotency-key-expired` where it is no longer kept.
 */
export async function valueOf(recording: Recording, keeping: ValueKeeping, operation: Operation): Promise<unknown> {
  assertKept(recording);
  try {
    const bytes = await openBody(recording, keeping.protection, operation);
    return bytes === null ? undefined : read(bytes);
  } catch (error) {
    throw responseUnavailable(recording, error);
  }
}

function read(bytes: Uint8Array): unknown {
  const written: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
  if (Array.isArray(written) && written[0] === VALUE_VERSION) return decodeValue(written[1]);
  throw new Error('The recording holds no value, or one in a version that is not known here.');
}
