import { canonicalJson } from '../core/canonical-json.js';
import { IdempotencyError } from '../core/errors.js';
import { fingerprint } from '../core/fingerprint.js';

/** What the fingerprint of a request is made from: all that decides what the handler is given. */
export interface RequestContent {
  readonly method: string;
  /** The endpoint's pattern, such as `/payments/:id/refunds`. */
  readonly pattern: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly contentType: string | undefined;
  /** Whether the message has a body, whatever the application's parsers made of it. */
  readonly hasBody: boolean;
  /** The body as the application's parsers left it. */
  readonly body: unknown;
}

/**
 * The fingerprint of a request: equal when the handler would be given equal input.
 *
 * @throws {IdempotencyError} `idempotency-payload-unsupported` for a body that nothing has parsed yet;
 *   `idempotency-payload-invalid` for one nested too deep.
 */
export function requestFingerprint(content: RequestContent): Uint8Array {
  const { method, pattern, params, query } = content;
  return fingerprint(['http', method, pattern, canonicalJson(params), canonicalJson(query), ...bodyParts(content)]);
}

function bodyParts({ contentType, hasBody, body }: RequestContent): (string | Uint8Array)[] {
  if (!hasBody) return ['none'];
  const mediaType = contentType?.split(';', 1)[0]!.trim().toLowerCase() ?? '';
  if (body === undefined) throw unparsed();
  if (body instanceof Uint8Array) return ['bytes', mediaType, body];
  const isJson = mediaType === 'application/json' || mediaType.endsWith('+json');
  if (typeof body === 'string' && !isJson) return ['bytes', mediaType, body];
  return ['json', mediaType, canonicalJson(body)];
}

function unparsed(): IdempotencyError {
  return new IdempotencyError(
    'idempotency-payload-unsupported',
    'The request has a body of a media type that this endpoint does not read.',
  );
}
