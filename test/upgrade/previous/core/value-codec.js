const TAG = '$';
export function encodeValue(value) {
    return encode(value, []);
}
export function decodeValue(encoded) {
    return decode(encoded);
}
function encode(value, within) {
    switch (typeof value) {
        case 'string':
        case 'boolean':
            return value;
        case 'number':
            return Number.isFinite(value) && !Object.is(value, -0) ? value : { [TAG]: 'number', is: numberName(value) };
        case 'undefined':
            return { [TAG]: 'undefined' };
        case 'bigint':
            return { [TAG]: 'bigint', is: String(value) };
        case 'object':
            return value === null ? null : encodeObject(value, within);
        default:
            throw new TypeError(`A ${typeof value} cannot be kept. Return plain data.`);
    }
}
function encodeObject(value, within) {
    if (within.includes(value))
        throw new TypeError('A value that contains itself cannot be kept. Return plain data.');
    if (value instanceof Date)
        return { [TAG]: 'date', is: value.getTime() };
    if (value instanceof Uint8Array)
        return { [TAG]: 'bytes', is: Buffer.from(value).toString('base64') };
    const inside = [...within, value];
    if (hasJsonForm(value))
        return encode(value.toJSON(), inside);
    if (Array.isArray(value))
        return Array.from(value, (element) => encode(element, inside));
    const members = Object.entries(value).map(([name, member]) => [name, encode(member, inside)]);
    const encoded = Object.fromEntries(members);
    return Object.hasOwn(encoded, TAG) ? { [TAG]: 'object', is: encoded } : encoded;
}
function hasJsonForm(value) {
    return 'toJSON' in value && typeof value.toJSON === 'function';
}
function decode(encoded) {
    if (typeof encoded !== 'object' || encoded === null)
        return encoded;
    if (Array.isArray(encoded))
        return encoded.map(decode);
    if (!Object.hasOwn(encoded, TAG))
        return decodeMembers(encoded);
    const { [TAG]: tag, is } = encoded;
    switch (tag) {
        case 'number':
            return Number(is);
        case 'undefined':
            return undefined;
        case 'bigint':
            return BigInt(is);
        case 'date':
            return new Date(is === null ? NaN : is);
        case 'bytes':
            return new Uint8Array(Buffer.from(is, 'base64'));
        case 'object':
            return decodeMembers(is);
    }
}
function decodeMembers(encoded) {
    return Object.fromEntries(Object.entries(encoded).map(([name, member]) => [name, decode(member)]));
}
function numberName(value) {
    return Object.is(value, -0) ? '-0' : String(value);
}
