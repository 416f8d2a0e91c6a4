import { REPLAYED_HEADER } from '../../http/wire/replay.js';
import { withKeyHeader } from './key-parameter.js';
import { PROBLEM_MEDIA_TYPE, problemResponses } from './problem-responses.js';
const REPLAYED = {
    description: 'Present where this is the recorded answer of an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
};
export function describeOperation(operation, endpoint, settings) {
    const { isRequired, retentionMs, leaseMs } = endpoint;
    const takesHeader = endpoint.key === undefined;
    if (takesHeader)
        operation.parameters = withKeyHeader(operation.parameters ?? [], endpoint, settings);
    operation.responses = { ...operation.responses };
    for (const [status, response] of Object.entries(operation.responses)) {
        if (response && /^[23]/.test(status))
            operation.responses[status] = withReplayedHeader(response);
    }
    for (const [status, response] of problemResponses(endpoint, settings.problems)) {
        operation.responses[status] = joined(operation.responses[status], response);
    }
    const extension = {
        ...(takesHeader && { keyHeader: settings.header }),
        required: isRequired,
        retentionSeconds: retentionMs / 1000,
        leaseSeconds: leaseMs / 1000,
    };
    Object.assign(operation, { 'x-idempotency': extension, ...operation });
}
function withReplayedHeader(response) {
    if ('$ref' in response)
        return response;
    return { ...response, headers: { [REPLAYED_HEADER]: structuredClone(REPLAYED), ...response.headers } };
}
function joined(theirs, ours) {
    if (!theirs)
        return ours;
    if ('$ref' in theirs)
        return theirs;
    return {
        ...theirs,
        description: [theirs.description, ours.description].filter(Boolean).join('\n\n'),
        ...((ours.headers ?? theirs.headers) && { headers: { ...ours.headers, ...theirs.headers } }),
        content: {
            ...theirs.content,
            [PROBLEM_MEDIA_TYPE]: joinedMedia(theirs.content?.[PROBLEM_MEDIA_TYPE], ours.content[PROBLEM_MEDIA_TYPE]),
        },
    };
}
function joinedMedia(theirs, ours) {
    if (!theirs)
        return ours;
    return { ...theirs, schema: theirs.schema ? { anyOf: [theirs.schema, ours.schema] } : ours.schema };
}
