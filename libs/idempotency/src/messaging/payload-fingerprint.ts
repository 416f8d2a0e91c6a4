import { canonicalJson } from '../core/canonical-json.js';
import { fingerprint } from '../core/fingerprint.js';

/**
 * The fingerprint of what a message, a job or plain code asks: equal for equal JSON values, and for equal bytes.
 *
 * @throws {IdempotencyError} `idempotency-payload-unsupported` for what is neither, such as a Date or an object of a
 *   class; `idempotency-payload-invalid` for a value nested too deep.
 */
export function payloadFingerprint(payload: unknown): Uint8Array {
  return fingerprint(['value', ...partsOf(payload)]);
}

function partsOf(payload: unknown): (string | Uint8Array)[] {
  if (payload === undefined) return ['nothing'];
  return payload instanceof Uint8Array ? ['bytes', payload] : ['json', canonicalJson(payload)];
}
