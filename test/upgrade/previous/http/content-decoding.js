import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
const unzip = promisify(gunzip);
const inflateWrapped = promisify(inflate);
const inflateBare = promisify(inflateRaw);
const DECODERS = new Map([
    ['gzip', unzip],
    ['x-gzip', unzip],
    ['deflate', decodeDeflate],
    ['br', promisify(brotliDecompress)],
    ['identity', (body) => Promise.resolve(body)],
]);
export async function decodedContent(headers, body, limitBytes) {
    const lines = headers.filter(([name]) => name.toLowerCase() === 'content-encoding');
    if (body === null || body.length === 0 || lines.length === 0)
        return { headers: [], body };
    const decoded = await decode(body, codingsIn(lines), limitBytes);
    return decoded === null ? { headers: lines, body } : { headers: [], body: decoded };
}
function codingsIn(lines) {
    const codings = lines.flatMap(([, value]) => value.split(','));
    return codings.map((coding) => coding.trim().toLowerCase()).filter((coding) => coding !== '');
}
async function decode(body, codings, maxOutputLength) {
    const decoders = codings.map((coding) => DECODERS.get(coding)).reverse();
    let decoded = body;
    for (const decoder of decoders) {
        if (decoder === undefined)
            return null;
        try {
            decoded = await decoder(decoded, { maxOutputLength });
        }
        catch {
            return null;
        }
    }
    return decoded;
}
function decodeDeflate(body, options) {
    const isWrapped = ((body[0] ?? 0) & 0x0f) === 8;
    return isWrapped ? inflateWrapped(body, options) : inflateBare(body, options);
}
