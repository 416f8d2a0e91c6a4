import { canonicalJson } from '../core/canonical-json.js';
import { IdempotencyError } from '../core/errors.js';
import { type BodyPath, partAt, pointerTo, without } from './body-paths.js';
import { contentDigest } from './content-digest.js';
import type { BodySelection } from './fingerprint-options.js';
import type { RequestContent } from './request-content.js';

type Part = string | Uint8Array;

/**
 * What of a request's body goes into the fingerprint. The first part says how many follow and what they are.
 *
 * Beside a message without a body stands what a parser made of it all the same: of JSON with a Content-Length of 0,
 * Express makes an empty object.
 */
export function bodyParts(content: RequestContent, selection: BodySelection): Part[] {
  const { hasBody, body } = content;
  const mediaType = content.contentType?.split(';', 1)[0]!.trim().toLowerCase() ?? '';
  if (!hasBody) return body === undefined ? ['none'] : ['none', ...valueParts(body, mediaType, selection)];
  if (mediaType.startsWith('multipart/')) return digestParts(content, mediaType) ?? refuse(MULTIPART);
  if (selection.kind === 'raw') return rawParts(content, mediaType);
  if (isUnread(body)) return digestParts(content, mediaType) ?? refuse(UNREAD);
  return valueParts(body, mediaType, selection);
}

function rawParts(content: RequestContent, mediaType: string): Part[] {
  const { body, rawBody } = content;
  const bytes = rawBody instanceof Uint8Array ? rawBody : body;
  if (bytes instanceof Uint8Array) return ['bytes', mediaType, bytes];
  if (isUnread(body)) return digestParts(content, mediaType) ?? refuse(UNREAD);
  throw new IdempotencyError(
    'idempotency-fingerprint-failed',
    'The request was not run: this endpoint compares raw bodies, and the application does not keep them. ' +
      'Nest does with `rawBody: true`; else remove `fingerprint.body`.',
  );
}

/** Text is taken as a JSON string, which tells texts apart that have no UTF-8. */
function valueParts(body: unknown, mediaType: string, selection: BodySelection): Part[] {
  if (body instanceof Uint8Array) return ['bytes', mediaType, body];
  if (typeof body === 'object' && body !== null) {
    if (selection.kind === 'pick') return pickedParts(body, mediaType, selection.paths);
    if (selection.kind === 'omit') return ['json', mediaType, canonicalJson(without(body, selection.paths))];
  }
  return ['json', mediaType, canonicalJson(body)];
}

function pickedParts(body: object, mediaType: string, paths: readonly BodyPath[]): Part[] {
  const picked = paths.flatMap((path) => {
    const found = partAt(body, path);
    return [pointerTo(path), ...(found ? ['present', canonicalJson(found.part)] : ['absent'])];
  });
  return ['picked', mediaType, String(paths.length), ...picked];
}

function digestParts({ rawHeaders }: RequestContent, mediaType: string): Part[] | null {
  const found = contentDigest(rawHeaders);
  return found && ['digest', mediaType, found.algorithm, found.digest];
}

/** Whether nobody has read the body, or only handed on the stream it comes from. */
function isUnread(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return body === undefined;
  return 'pipe' in body && typeof body.pipe === 'function';
}

const REMEDY =
  'Send its Content-Digest (sha-256 or sha-512), or give the endpoint a `fingerprint` function that says what was asked.';

const UNREAD = `The request has a body of a media type that this endpoint does not read. ${REMEDY}`;

const MULTIPART = `The parts of a multipart body are read too late for it to be compared with another. ${REMEDY}`;

function refuse(message: string): never {
  throw new IdempotencyError('idempotency-payload-unsupported', message);
}
