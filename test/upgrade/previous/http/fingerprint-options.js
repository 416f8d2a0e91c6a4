import { bodyPath } from './body-paths.js';
export const WHOLE_CONTENT = { headers: [], body: { kind: 'parsed' } };
const KNOWN = ['headers', 'pick', 'omit', 'body'];
export function contentSelection(options) {
    if (typeof options !== 'object' || options === null)
        throw wrong('', 'must be an object or a function');
    const unknown = Object.keys(options).find((name) => !KNOWN.includes(name));
    if (unknown !== undefined)
        throw wrong(`.${unknown}`, 'is no option there is');
    return { headers: headersOf(options), body: bodyOf(options) };
}
function headersOf({ headers = [] }) {
    const names = strings('headers', headers);
    const bad = names.find((name) => !/^[!#$%&'*+.^`|~\w-]+$/.test(name));
    if (bad !== undefined)
        throw wrong('.headers', `holds ${JSON.stringify(bad)}, which is no name of a header`);
    return inOrder(names.map((name) => name.toLowerCase()));
}
function bodyOf({ body = 'parsed', pick, omit }) {
    if (body !== 'parsed' && body !== 'raw')
        throw wrong('.body', "must be 'parsed' or 'raw'");
    if (pick && omit)
        throw wrong('', 'has both `pick` and `omit`; only one of them can say what counts');
    if (body === 'raw' && (pick ?? omit))
        throw wrong('.body', "is 'raw': bytes have no parts to pick or omit");
    if (omit)
        return { kind: 'omit', paths: paths('omit', omit) };
    if (!pick)
        return { kind: body };
    if (pick.length === 0)
        throw wrong('.pick', "is empty, so no body would count. If that is meant, say `omit: ['']`");
    return { kind: 'pick', paths: paths('pick', pick) };
}
function paths(option, pointers) {
    return inOrder(strings(option, pointers)).map((pointer) => {
        const path = bodyPath(pointer);
        if (path)
            return path;
        throw wrong(`.${option}`, `holds ${JSON.stringify(pointer)}, which is no JSON Pointer (RFC 6901), such as '/a/0/b'`);
    });
}
function strings(option, given) {
    if (Array.isArray(given) && given.every((item) => typeof item === 'string'))
        return given;
    throw wrong(`.${option}`, 'must be a list of strings');
}
function inOrder(names) {
    return [...new Set(names)].sort();
}
function wrong(option, what) {
    return new Error(`IdempotencyModule: \`fingerprint${option}\` ${what}.`);
}
