import { IdempotencyError } from './errors.js';
export const MAX_DEPTH = 512;
export function canonicalJson(value) {
    const written = [];
    write(value, 0, written);
    return written.join('');
}
function write(value, depth, written) {
    switch (typeof value) {
        case 'string':
            written.push(JSON.stringify(value));
            return;
        case 'number':
            written.push(Object.is(value, -0) ? '-0' : String(value));
            return;
        case 'boolean':
        case 'undefined':
            written.push(String(value));
            return;
        case 'object':
            if (value === null)
                written.push('null');
            else
                writeObject(value, depth, written);
            return;
        default:
            throw noJson();
    }
}
function writeObject(value, depth, written) {
    if (depth === MAX_DEPTH)
        throw tooDeep();
    if (Array.isArray(value))
        writeElements(value, depth, written);
    else if (isRecord(value))
        writeMembers(value, depth, written);
    else
        throw noJson();
}
function writeElements(elements, depth, written) {
    written.push('[');
    for (let i = 0; i < elements.length; i++) {
        if (i > 0)
            written.push(',');
        write(elements[i], depth + 1, written);
    }
    written.push(']');
}
function writeMembers(members, depth, written) {
    const names = Object.keys(members).sort();
    written.push('{');
    for (let i = 0; i < names.length; i++) {
        written.push(i > 0 ? ',' : '', JSON.stringify(names[i]), ':');
        write(members[names[i]], depth + 1, written);
    }
    written.push('}');
}
function isRecord(value) {
    const prototype = Object.getPrototypeOf(value);
    return prototype === null || Object.getPrototypeOf(prototype) === null;
}
function tooDeep() {
    return new IdempotencyError('idempotency-payload-invalid', `The payload is nested more than ${MAX_DEPTH} levels deep.`, { reason: 'depth' });
}
function noJson() {
    return new IdempotencyError('idempotency-payload-unsupported', 'The payload was read into something that is no JSON value, so it cannot be compared with another. ' +
        'The endpoint needs a `fingerprint` function.', { reason: 'value' });
}
