import { MAX_KEY_LENGTH } from '../../core/key.js';
import { spokenDuration } from './spoken-duration.js';
export function withKeyHeader(theirs, endpoint, settings) {
    const { schema, ...ours } = keyHeader(endpoint, settings);
    const isKey = (parameter) => 'in' in parameter && parameter.in === 'header' && parameter.name.toLowerCase() === ours.name.toLowerCase();
    if (!theirs.some(isKey))
        return [...theirs, { ...ours, schema }];
    return theirs.map((parameter) => {
        if (!isKey(parameter))
            return parameter;
        const canBeAddedTo = !parameter.content && !(parameter.schema && '$ref' in parameter.schema);
        return {
            ...ours,
            ...parameter,
            required: endpoint.isRequired,
            ...(canBeAddedTo && { schema: { ...schema, ...parameter.schema } }),
        };
    });
}
function keyHeader({ isRequired, retentionMs }, { header, problems }) {
    const sentences = [
        'Names the intended operation, which then happens at most once: a new unique value, such as a UUID, for each ' +
            'operation, and the same value for every retry of its request.',
        `1 to ${MAX_KEY_LENGTH} printable ASCII characters.`,
        `A retry gets the recorded answer for ${spokenDuration(retentionMs)}.`,
        ...(isRequired ? [] : ['Without the header, a retry is an operation of its own.']),
        ...(problems.docsUrl ? [`See ${problems.docsUrl}.`] : []),
    ];
    return {
        name: header,
        in: 'header',
        required: isRequired,
        description: sentences.join(' '),
        schema: { type: 'string', minLength: 1, maxLength: MAX_KEY_LENGTH },
    };
}
