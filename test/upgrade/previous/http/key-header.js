import { parseItem } from 'structured-headers';
import { IdempotencyError } from '../core/errors.js';
import { checkedKey, invalidKey } from '../core/key.js';
export const DEFAULT_KEY_HEADER = 'Idempotency-Key';
export function keyFromHeaders(rawHeaders, header) {
    const name = header.toLowerCase();
    let found;
    for (let i = 0; i < rawHeaders.length; i += 2) {
        if (rawHeaders[i].toLowerCase() !== name)
            continue;
        if (found !== undefined)
            throw invalidKey('multiple');
        found = rawHeaders[i + 1];
    }
    return found === undefined ? undefined : checkedKey(unquoted(found.trim()));
}
export function keyMissing(header) {
    return new IdempotencyError('idempotency-key-missing', `This endpoint requires a key for each operation. Send a unique value, such as a UUID, in ${header}.`);
}
function unquoted(value) {
    if (/[^\x20-\x7e]/.test(value))
        throw invalidKey('charset');
    if (value.startsWith('"'))
        return structuredString(value);
    if (/[\s",]/.test(value))
        throw invalidKey('syntax');
    return value;
}
function structuredString(value) {
    try {
        const bare = parseItem(value)[0];
        if (typeof bare === 'string')
            return bare;
    }
    catch {
    }
    throw invalidKey('syntax');
}
