import { sealBody } from '../core/body-protection.js';
import { decodedContent } from './content-decoding.js';
import { recordedHeaders } from './replayable-headers.js';
const OMISSIONS = { oversized: 'too_large', client_left: 'client_left', unseen: 'not_seen' };
const OF_THE_BYTES = new Set(['etag', 'content-digest', 'repr-digest', 'digest', 'content-md5']);
function tellsOfBytes(name) {
    return OF_THE_BYTES.has(name.toLowerCase());
}
export async function recordingOf(answer, status, { replayHeaders, limitBytes, isStatusOnly, protection }, operation) {
    if (answer.kind === 'unseen')
        return { status, headers: [], body: null, omitted: OMISSIONS.unseen, resource: null };
    const resource = answer.headers.find(([name]) => name.toLowerCase() === 'location')?.[1] ?? null;
    const isSecret = isStatusOnly || protection !== undefined;
    const headers = recordedHeaders(answer.headers, replayHeaders).filter(([name]) => !isSecret || !tellsOfBytes(name));
    if (isStatusOnly)
        return { status, headers, body: null, omitted: null, resource };
    if (answer.kind !== 'whole') {
        return { status, headers, body: null, omitted: OMISSIONS[answer.kind], resource };
    }
    const content = await decodedContent(answer.headers, answer.body, limitBytes);
    const recording = { status, headers: [...headers, ...content.headers], omitted: null, resource };
    if (content.body === null)
        return { ...recording, body: null };
    return { ...recording, ...(await sealBody(content.body, protection, operation)) };
}
