import { canonicalJson } from '../core/canonical-json.js';
import { IdempotencyError } from '../core/errors.js';
import { fingerprint, FINGERPRINT_VERSION } from '../core/fingerprint.js';
import { bodyParts } from './body-parts.js';
import { type ContentSelection, WHOLE_CONTENT } from './fingerprint-options.js';
import { headerValues } from './header-values.js';
import type { RequestContent } from './request-content.js';

type Part = string | Uint8Array;

/** What is hashed, by version of the algorithm: a record is compared in the version that it was written in. */
const VERSIONS = { 1: contentParts } as const;

/**
 * The fingerprint of a request: equal when the handler would be given equal input, as far as `selection` asks.
 *
 * @throws {IdempotencyError} `idempotency-payload-unsupported` for a body that nothing has parsed yet, or into nothing
 *   that can be compared; `idempotency-payload-invalid` for one nested too deep, or a digest that cannot be read.
 */
export function requestFingerprint(content: RequestContent, selection = WHOLE_CONTENT): Uint8Array {
  return fingerprint(VERSIONS[FINGERPRINT_VERSION](content, selection));
}

/**
 * The fingerprint of a request by what a function of the application's says was asked, at this route with these path
 * parameters: a string, bytes or a JSON value.
 *
 * @throws {IdempotencyError} `idempotency-fingerprint-failed` for anything else.
 */
export function customFingerprint(content: RequestContent, asked: unknown): Uint8Array {
  return fingerprint([...targetParts(content), 'custom', ...askedParts(asked)]);
}

/** A function of the application's did not say what was asked: nothing can be compared, so nothing is run. */
export function fingerprintFailed(cause: unknown): IdempotencyError {
  return new IdempotencyError(
    'idempotency-fingerprint-failed',
    "The request was not run: the function in this endpoint's `fingerprint` option failed, or returned something " +
      'else than a string, bytes or a JSON value.',
    { cause },
  );
}

function contentParts(content: RequestContent, { headers, body }: ContentSelection): Part[] {
  return [
    ...targetParts(content),
    canonicalJson(content.query),
    ...bodyParts(content, body),
    ...headers.flatMap((name) => headerParts(content, name)),
  ];
}

function targetParts({ method, pattern, params, hosts }: RequestContent): Part[] {
  const target = ['http', method, pattern, canonicalJson(params)];
  return hosts === undefined ? target : [...target, 'hosts', canonicalJson(hosts)];
}

function headerParts({ rawHeaders }: RequestContent, name: string): Part[] {
  const values = headerValues(rawHeaders, name);
  return ['header', name, String(values.length), ...values];
}

function askedParts(asked: unknown): Part[] {
  if (asked === undefined) throw fingerprintFailed(new Error('It returned undefined.'));
  if (asked instanceof Uint8Array) return ['bytes', asked];
  try {
    return ['json', canonicalJson(asked)];
  } catch (error) {
    throw fingerprintFailed(error);
  }
}
