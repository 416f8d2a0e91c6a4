export function checkpointOf(input, raw, restores) {
    const restoreInput = rememberInput(input);
    if (!restoreInput)
        return null;
    const wasRead = raw.readableDidRead;
    return {
        get isReachable() {
            return raw.readableDidRead === wasRead;
        },
        restore: () => {
            for (const restore of [restoreInput, ...restores])
                restore();
        },
    };
}
function rememberInput(input) {
    const names = ['body', 'params', 'query'].filter((name) => Object.hasOwn(input, name));
    try {
        const before = names.map((name) => [name, copyOf(input[name])]);
        return () => {
            for (const [name, value] of before)
                input[name] = copyOf(value);
        };
    }
    catch {
        return null;
    }
}
function copyOf(value) {
    return Buffer.isBuffer(value) ? Buffer.from(value) : structuredClone(value);
}
export function rememberStatus(answer, raw) {
    const { statusCode } = answer;
    const { statusMessage } = raw;
    return () => {
        answer.statusCode = statusCode;
        raw.statusMessage = statusMessage;
    };
}
export function rememberHeaders(all, access) {
    const before = Object.entries(all()).map(([name, value]) => [name, Array.isArray(value) ? [...value] : value]);
    return () => {
        for (const name of Object.keys(all()))
            access.remove(name);
        for (const [name, value] of before)
            if (value !== undefined)
                access.set(name, value);
    };
}
