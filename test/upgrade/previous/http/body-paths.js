export function bodyPath(pointer) {
    if (pointer === '')
        return [];
    if (!pointer.startsWith('/') || /~(?![01])/.test(pointer))
        return null;
    const tokens = pointer.slice(1).split('/');
    return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}
export function pointerTo(path) {
    return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
export function partAt(whole, path) {
    let part = whole;
    for (const name of path) {
        if (!has(part, name))
            return null;
        part = part[name];
    }
    return { part };
}
export function without(whole, paths) {
    if (paths.some(isWhole))
        return undefined;
    const inside = new Map();
    for (const [name, ...rest] of paths) {
        if (has(whole, name))
            inside.set(name, [...(inside.get(name) ?? []), rest]);
    }
    if (inside.size === 0)
        return whole;
    const kept = Object.entries(whole).flatMap(([name, part]) => {
        const deeper = inside.get(name);
        if (deeper?.some(isWhole))
            return [];
        return [[name, deeper ? without(part, deeper) : part]];
    });
    return Array.isArray(whole) ? kept.map(([, part]) => part) : Object.fromEntries(kept);
}
function has(whole, name) {
    return typeof whole === 'object' && whole !== null && Object.prototype.propertyIsEnumerable.call(whole, name);
}
function isWhole(path) {
    return path.length === 0;
}
