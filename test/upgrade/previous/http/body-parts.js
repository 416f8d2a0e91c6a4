import { canonicalJson } from '../core/canonical-json.js';
import { IdempotencyError } from '../core/errors.js';
import { partAt, pointerTo, without } from './body-paths.js';
import { contentDigest } from './content-digest.js';
export function bodyParts(content, selection) {
    const { hasBody, body } = content;
    const mediaType = content.contentType?.split(';', 1)[0].trim().toLowerCase() ?? '';
    if (!hasBody)
        return body === undefined ? ['none'] : ['none', ...valueParts(body, mediaType, selection)];
    if (mediaType.startsWith('multipart/'))
        return digestParts(content, mediaType) ?? refuse(MULTIPART);
    if (selection.kind === 'raw')
        return rawParts(content, mediaType);
    if (isUnread(body))
        return digestParts(content, mediaType) ?? refuse(UNREAD);
    return valueParts(body, mediaType, selection);
}
function rawParts(content, mediaType) {
    const { body, rawBody } = content;
    const bytes = rawBody instanceof Uint8Array ? rawBody : body;
    if (bytes instanceof Uint8Array)
        return ['bytes', mediaType, bytes];
    if (isUnread(body))
        return digestParts(content, mediaType) ?? refuse(UNREAD);
    throw new IdempotencyError('idempotency-fingerprint-failed', 'The request was not run: this endpoint compares raw bodies, and the application does not keep them. ' +
        'Nest does with `rawBody: true`; else remove `fingerprint.body`.');
}
function valueParts(body, mediaType, selection) {
    if (body instanceof Uint8Array)
        return ['bytes', mediaType, body];
    if (typeof body === 'object' && body !== null) {
        if (selection.kind === 'pick')
            return pickedParts(body, mediaType, selection.paths);
        if (selection.kind === 'omit')
            return ['json', mediaType, canonicalJson(without(body, selection.paths))];
    }
    return ['json', mediaType, canonicalJson(body)];
}
function pickedParts(body, mediaType, paths) {
    const picked = paths.flatMap((path) => {
        const found = partAt(body, path);
        return [pointerTo(path), ...(found ? ['present', canonicalJson(found.part)] : ['absent'])];
    });
    return ['picked', mediaType, String(paths.length), ...picked];
}
function digestParts({ rawHeaders }, mediaType) {
    const found = contentDigest(rawHeaders);
    return found && ['digest', mediaType, found.algorithm, found.digest];
}
function isUnread(body) {
    if (typeof body !== 'object' || body === null)
        return body === undefined;
    return 'pipe' in body && typeof body.pipe === 'function';
}
const REMEDY = 'Send its Content-Digest (sha-256 or sha-512), or give the endpoint a `fingerprint` function that says what was asked.';
const UNREAD = `The request has a body of a media type that this endpoint does not read. ${REMEDY}`;
const MULTIPART = `The parts of a multipart body are read too late for it to be compared with another. ${REMEDY}`;
function refuse(message) {
    throw new IdempotencyError('idempotency-payload-unsupported', message);
}
