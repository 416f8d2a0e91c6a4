import { headerNames } from './header-entries.js';
import { mergedEntries, pushLines } from './header-merge.js';
import { rehearseHead } from './rehearsal.js';
const BODILESS = new Set([204, 205, 304]);
const INVALID_REASON = /[^\t\x20-\x7e\x80-\xff]/;
export function isBodilessStatus(status) {
    return BODILESS.has(status);
}
export function freezeHead(res, args) {
    const code = args === null ? res.statusCode : args[0];
    const reason = typeof args?.[1] === 'string' ? args[1] : (res.statusMessage ?? '');
    const added = typeof args?.[1] === 'string' ? args[2] : (args?.[2] ?? args?.[1]);
    const status = Number(code) | 0;
    if (status < 100 || status > 999 || (reason !== '' && INVALID_REASON.test(reason)) || res.hasHeader('trailer')) {
        rehearseHead(res, args ?? [code]);
    }
    return {
        status,
        reason,
        headers: added ? linesWith(res, added, args ?? []) : lines(res),
        isBodiless: status < 200 || isBodilessStatus(status) || res.req.method === 'HEAD',
    };
}
function lines(res) {
    const all = [];
    for (const name of headerNames(res))
        pushLines(all, name, res.getHeader(name) ?? '');
    return all;
}
function linesWith(res, added, args) {
    const all = [];
    for (const [name, value] of mergedEntries(res, added, args))
        pushLines(all, name, value);
    return all;
}
