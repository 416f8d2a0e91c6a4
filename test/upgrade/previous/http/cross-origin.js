import { DEFAULT_KEY_HEADER } from './key-header.js';
import { REPLAYED_HEADER } from './wire/replay.js';
const EXPOSED = [REPLAYED_HEADER, 'Retry-After', 'Link', 'Location'];
export function idempotencyCors(options = {}) {
    const { header = DEFAULT_KEY_HEADER, allowedHeaders, exposedHeaders = [] } = options;
    return {
        ...(allowedHeaders && { allowedHeaders: union(allowedHeaders, [header, 'Content-Type']) }),
        exposedHeaders: union(exposedHeaders, EXPOSED),
    };
}
function union(own, added) {
    const names = new Set(own.map((name) => name.toLowerCase()));
    return [...own, ...added.filter((name) => !names.has(name.toLowerCase()))];
}
