import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

import type { Operation } from './operation.js';
import type { Recording } from './recording.js';

type Awaitable<T> = T | Promise<T>;

/** A body as it is kept at rest. */
export interface SealedBody {
  /** Names the key, not the key itself: it stands in the row as it is, so that rows under an old key can be counted. */
  readonly keyId: string;
  readonly sealed: Uint8Array;
}

/**
 * Encrypts recorded bodies at rest.
 *
 * Both functions are told the operation, so that a body can be bound to it: one that is moved to another row must not
 * open there.
 */
export interface BodyProtection {
  seal(body: Uint8Array, operation: Operation): Awaitable<SealedBody>;
  /** Rejects what was changed, what belongs to another operation, and what was sealed under a key it does not have. */
  open(body: SealedBody, operation: Operation): Awaitable<Uint8Array>;
}

export interface Aes256GcmOptions {
  /** Every key that recordings may still be sealed under, by its id: 32 bytes each, or their base64. */
  readonly keys: Readonly<Record<string, Uint8Array | string>>;
  /** The id of the key that new recordings are sealed under. */
  readonly current: string;
}

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Protects recorded bodies with AES-256-GCM (NIST SP 800-38D), bound to their operation.
 *
 * To rotate, add a key, make it `current`, and keep the old one until no row names its id in `response_key_id`, at the
 * latest for one retention. A sealed body is a random nonce of 12 bytes, the tag of 16, and the ciphertext.
 *
 * @throws {Error} when a key is not 32 bytes long, or `current` names none.
 * @example
 * ```ts
 * protect: aes256Gcm({ keys: { '2026-11': process.env.RECORDING_KEY! }, current: '2026-11' })
 * ```
 */
export function aes256Gcm({ keys: given, current }: Aes256GcmOptions): BodyProtection {
  const keys = new Map(Object.entries(given).map(([id, key]) => [id, keyBytes(id, key)]));
  if (!keys.has(current)) throw new Error(`aes256Gcm: \`current\` is '${current}', which names no key.`);
  return {
    seal: (body, operation) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, keys.get(current)!, nonce).setAAD(binding(operation));
      const ciphertext = [cipher.update(body), cipher.final()];
      return { keyId: current, sealed: Buffer.concat([nonce, cipher.getAuthTag(), ...ciphertext]) };
    },
    open: ({ keyId, sealed }, operation) => {
      const key = keys.get(keyId);
      if (!key) throw new Error(`aes256Gcm: a recording is sealed under the key '${keyId}', which is not given.`);
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(binding(operation)).setAuthTag(tag);
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    },
  };
}

/**
 * A body as it is to be recorded: encrypted, where there is something to encrypt it with.
 *
 * Rejects when it cannot be.
 */
export async function sealBody(
  body: Uint8Array,
  protection: BodyProtection | undefined,
  operation: Operation,
): Promise<{ readonly body: Uint8Array; readonly keyId?: string }> {
  if (!protection) return { body };
  const { keyId, sealed } = await protection.seal(body, operation);
  // Without it the bytes would be taken for the body itself.
  if (typeof keyId !== 'string') throw new TypeError('`protect.seal()` returned no `keyId`.');
  return { body: sealed, keyId };
}

/**
 * The body of a recording as it was before it was sealed.
 *
 * Rejects where it is encrypted and cannot be opened.
 */
export async function openBody(
  { body, keyId }: Pick<Recording, 'body' | 'keyId'>,
  protection: BodyProtection | undefined,
  operation: Operation,
): Promise<Uint8Array | null> {
  if (body === null || keyId === undefined) return body;
  if (!protection) throw new Error('A recording is encrypted, and its endpoint has no `protect` to open it with.');
  return protection.open({ keyId, sealed: body }, operation);
}

function keyBytes(id: string, key: Uint8Array | string): Buffer {
  const bytes = typeof key === 'string' ? Buffer.from(key, 'base64') : Buffer.from(key);
  if (bytes.length === KEY_BYTES) return bytes;
  throw new Error(
    `aes256Gcm: the key '${id}' has ${bytes.length} bytes; it needs ${KEY_BYTES}, such as randomBytes(32).`,
  );
}

function binding({ tenant, endpoint, key }: Operation): Buffer {
  return Buffer.from(JSON.stringify([tenant, endpoint, key]));
}
