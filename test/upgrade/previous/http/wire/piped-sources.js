function isUnfinished(source) {
    return source.readableEnded === undefined ? (source.errored ?? null) !== null : !source.readableEnded;
}
export function hasUnfinishedSource(holding) {
    if (holding.sources === null)
        return false;
    for (const source of holding.sources)
        if (isUnfinished(source))
            return true;
    return false;
}
export function hasFailedSource(holding) {
    if (holding.sources === null)
        return false;
    for (const source of holding.sources)
        if ((source.errored ?? null) !== null)
            return true;
    return false;
}
export function dropSources(holding) {
    for (const source of holding.sources ?? [])
        if (isUnfinished(source))
            source.destroy?.();
    holding.sources = null;
}
