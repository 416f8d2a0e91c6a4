import { canonicalJson } from '../core/canonical-json.js';
import { IdempotencyError } from '../core/errors.js';
import { fingerprint, FINGERPRINT_VERSION } from '../core/fingerprint.js';
import { bodyParts } from './body-parts.js';
import { WHOLE_CONTENT } from './fingerprint-options.js';
import { headerValues } from './header-values.js';
const VERSIONS = { 1: contentParts };
export function requestFingerprint(content, selection = WHOLE_CONTENT) {
    return fingerprint(VERSIONS[FINGERPRINT_VERSION](content, selection));
}
export function customFingerprint(content, asked) {
    return fingerprint([...targetParts(content), 'custom', ...askedParts(asked)]);
}
export function fingerprintFailed(cause) {
    return new IdempotencyError('idempotency-fingerprint-failed', "The request was not run: the function in this endpoint's `fingerprint` option failed, or returned something " +
        'else than a string, bytes or a JSON value.', { cause });
}
function contentParts(content, { headers, body }) {
    return [
        ...targetParts(content),
        canonicalJson(content.query),
        ...bodyParts(content, body),
        ...headers.flatMap((name) => headerParts(content, name)),
    ];
}
function targetParts({ method, pattern, params, hosts }) {
    const target = ['http', method, pattern, canonicalJson(params)];
    return hosts === undefined ? target : [...target, 'hosts', canonicalJson(hosts)];
}
function headerParts({ rawHeaders }, name) {
    const values = headerValues(rawHeaders, name);
    return ['header', name, String(values.length), ...values];
}
function askedParts(asked) {
    if (asked === undefined)
        throw fingerprintFailed(new Error('It returned undefined.'));
    if (asked instanceof Uint8Array)
        return ['bytes', asked];
    try {
        return ['json', canonicalJson(asked)];
    }
    catch (error) {
        throw fingerprintFailed(error);
    }
}
