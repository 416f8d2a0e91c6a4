import { headerNames } from './header-entries.js';
export function takeSnapshot(res, extra) {
    const names = headerNames(res);
    const values = [];
    for (const name of names)
        values.push(copyOf(res.getHeader(name) ?? ''));
    return { names, values, extra, sendDate: res.sendDate };
}
export function restoreSnapshot(res, beneath, snapshot, leftOut) {
    const entries = entriesOf(snapshot);
    for (const name of leftOut)
        entries.delete(name);
    for (const name of res.getHeaderNames()) {
        if (!entries.has(name))
            beneath.removeHeader.call(res, name);
    }
    for (const [name, value] of entries.values())
        beneath.setHeader.call(res, name, value);
    res.sendDate = snapshot.sendDate;
}
function entriesOf({ names, values, extra = {} }) {
    const entries = new Map();
    names.forEach((name, index) => entries.set(name.toLowerCase(), [name, copyOf(values[index] ?? '')]));
    for (const [name, value] of Object.entries(extra)) {
        const key = name.toLowerCase();
        if (value !== undefined)
            entries.set(key, [entries.get(key)?.[0] ?? name, copyOf(value)]);
    }
    return entries;
}
function copyOf(value) {
    return Array.isArray(value) ? [...value] : value;
}
