import { validateHeaderName, validateHeaderValue } from 'node:http';
import { headerEntries } from './header-entries.js';
import { rehearseHead } from './rehearsal.js';
export function mergedEntries(res, added, args) {
    const current = headerEntries(res);
    if (Array.isArray(added))
        return mergedList(res, current, added, args);
    const entries = Object.entries(added);
    for (const [name, value] of entries) {
        if (name === '' && current.length > 0)
            continue;
        validateHeaderName(name);
        validateHeaderValue(name, value);
    }
    return current.length === 0 ? entries : replaceByName(current, entries);
}
function replaceByName(current, added) {
    const merged = new Map();
    for (const entry of current)
        merged.set(entry[0].toLowerCase(), entry);
    for (const entry of added)
        if (entry[0] !== '')
            merged.set(entry[0].toLowerCase(), entry);
    return [...merged.values()];
}
function mergedList(res, current, added, args) {
    const scratch = rehearseHead(res, args);
    if (current.length > 0)
        return headerEntries(scratch);
    if (Array.isArray(added[0]))
        return added;
    return added.flatMap((name, index) => (index % 2 === 0 ? [[name, added[index + 1]]] : []));
}
export function pushLines(lines, name, value) {
    if (Array.isArray(value))
        for (const one of value)
            lines.push([name, String(one)]);
    else
        lines.push([name, String(value)]);
}
