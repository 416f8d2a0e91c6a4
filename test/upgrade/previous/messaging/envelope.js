export function headerText({ headers }, name) {
    const lowerName = name.toLowerCase();
    for (const [given, value] of Object.entries(headers ?? {})) {
        if (given.toLowerCase() === lowerName)
            return textOf(value);
    }
    return undefined;
}
function textOf(value) {
    if (typeof value === 'string')
        return value;
    if (value instanceof Uint8Array)
        return Buffer.from(value).toString('utf8');
    return undefined;
}
