import { IdempotencyError } from './errors.js';
export const MAX_KEY_LENGTH = 255;
export function checkedKey(key) {
    if (typeof key !== 'string')
        throw invalidKey('syntax');
    if (key.trim() === '')
        throw invalidKey('empty');
    if (key.length > MAX_KEY_LENGTH)
        throw invalidKey('too_long');
    if (!/^[\x20-\x7e]+$/.test(key))
        throw invalidKey('charset');
    return key;
}
const REASONS = {
    empty: 'The idempotency key is empty. Send a unique value, such as a UUID.',
    too_long: `The idempotency key is longer than ${MAX_KEY_LENGTH} characters.`,
    charset: 'The idempotency key may hold printable ASCII characters only.',
    syntax: 'The idempotency key is neither a quoted string nor a bare token.',
    multiple: 'The request carries more than one idempotency key. Send the header once.',
};
export function invalidKey(defect) {
    return new IdempotencyError('idempotency-key-invalid', REASONS[defect], { reason: defect });
}
