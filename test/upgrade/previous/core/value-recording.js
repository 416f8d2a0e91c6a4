import { openBody, sealBody } from './body-protection.js';
import { responseUnavailable } from './refusal.js';
import { decodeValue, encodeValue } from './value-codec.js';
const VALUE_VERSION = 1;
const STATUS = 200;
const HEADERS = [['Content-Type', 'application/json']];
export function plainData(value) {
    return decodeValue(encodeValue(value));
}
export async function recordingOfValue(value, { limitBytes, isStatusOnly, protection }, operation) {
    const recording = { status: STATUS, headers: HEADERS, body: null, omitted: null, resource: null };
    const bytes = Buffer.from(JSON.stringify([VALUE_VERSION, encodeValue(value)]));
    if (isStatusOnly)
        return recording;
    if (bytes.byteLength > limitBytes)
        return { ...recording, omitted: 'too_large' };
    return { ...recording, ...(await sealBody(bytes, protection, operation)) };
}
export async function valueOf(recording, keeping, operation) {
    const { omitted, resource } = recording;
    if (omitted !== null)
        throw responseUnavailable(resource);
    try {
        const bytes = await openBody(recording, keeping.protection, operation);
        return bytes === null ? undefined : read(bytes);
    }
    catch (error) {
        throw responseUnavailable(resource, error);
    }
}
function read(bytes) {
    const written = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (Array.isArray(written) && written[0] === VALUE_VERSION)
        return decodeValue(written[1]);
    throw new Error('The recording holds no value, or one in a version that is not known here.');
}
