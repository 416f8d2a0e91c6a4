const JSON_TYPE = 'application/json; charset=utf-8';
export function answerWith(value, { textType, toJson, status, headers, limitBytes }) {
    const whole = (body, type) => {
        const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
        const lines = type === undefined || hasType ? headers : [...headers, ['Content-Type', type]];
        const bytes = Buffer.from(body);
        if (bytes.length > limitBytes)
            return { kind: 'oversized', status, headers: lines };
        return { kind: 'whole', status, headers: lines, body: bytes };
    };
    if (value === undefined || value === null)
        return whole('');
    if (typeof value === 'string')
        return whole(value, textType);
    if (typeof value !== 'object' || isBinary(value))
        return { kind: 'unseen' };
    try {
        const text = toJson(value);
        return text === undefined ? { kind: 'unseen' } : whole(text, JSON_TYPE);
    }
    catch {
        return { kind: 'unseen' };
    }
}
function isBinary(value) {
    return value instanceof Uint8Array || 'pipe' in value || 'getStream' in value;
}
