import { parseDictionary } from 'structured-headers';
import { IdempotencyError } from '../core/errors.js';
import { headerValues } from './header-values.js';
const ALGORITHMS = [
    ['sha-256', 32],
    ['sha-512', 64],
];
export function contentDigest(rawHeaders) {
    const members = membersOf(headerValues(rawHeaders, 'Content-Digest').join(', '));
    for (const [algorithm, length] of ALGORITHMS) {
        const member = members.get(algorithm);
        if (member === undefined)
            continue;
        const [value] = member;
        if (!(value instanceof ArrayBuffer) || value.byteLength !== length)
            throw malformed();
        return { algorithm, digest: new Uint8Array(value) };
    }
    return null;
}
function membersOf(field) {
    try {
        return parseDictionary(field);
    }
    catch {
        throw malformed();
    }
}
function malformed() {
    return new IdempotencyError('idempotency-payload-invalid', 'The Content-Digest header cannot be read. It looks like `sha-256=:<the digest in base64>:`.', { reason: 'digest' });
}
