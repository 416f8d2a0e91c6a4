import { takeOff } from './beneath.js';
import { ignoreEvents } from './response-events.js';
export function release(holding) {
    if (holding.phase !== 'holding' || holding.isSuperseded)
        return;
    const { res, head } = holding;
    const { statusCode, statusMessage } = res;
    letGo(holding);
    if (head !== null) {
        res.statusCode = head.status;
        res.statusMessage = head.reason;
    }
    try {
        makeCalls(holding);
    }
    catch (error) {
        res.destroy(error);
    }
    if (head !== null && statusCode !== head.status)
        Object.assign(res, { statusCode, statusMessage });
}
function letGo(holding) {
    holding.phase = 'passing';
    ignoreEvents(holding.res);
    takeOff(holding.res, holding.laid, holding.beneath);
}
function makeCalls(holding) {
    const { res, beneath, waiting } = holding;
    const calls = holding.isOversized ? joinWrites(holding.calls) : holding.calls;
    let takesMore = true;
    for (const { method, args } of calls) {
        const returned = beneath[method].apply(res, args);
        if (method === 'write' && returned === false)
            takesMore = false;
    }
    holding.calls = [];
    holding.waiting = [];
    holding.sources = null;
    for (const callback of waiting)
        process.nextTick(callback);
    if (holding.isOversized && takesMore && !holding.hasEnded)
        process.nextTick(() => res.emit('drain'));
}
function joinWrites(calls) {
    const joined = [];
    let parts = [];
    const flush = () => {
        if (parts.length > 0)
            joined.push({ method: 'write', args: [Buffer.concat(parts)], bytes: null });
        parts = [];
    };
    for (const call of calls) {
        if (call.method === 'write' && call.bytes !== null) {
            parts.push(call.bytes);
        }
        else {
            flush();
            joined.push(call);
        }
    }
    flush();
    return joined;
}
