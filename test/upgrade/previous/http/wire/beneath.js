export const HELD_METHODS = [
    'writeHead',
    'write',
    'end',
    'flushHeaders',
    'setHeader',
    'setHeaders',
    'appendHeader',
    'removeHeader',
    'destroy',
];
export function layOver(res, calls, earlier) {
    const target = res;
    const beneath = earlier ?? {
        writeHead: target.writeHead,
        write: target.write,
        end: target.end,
        flushHeaders: target.flushHeaders,
        setHeader: target.setHeader,
        setHeaders: target.setHeaders,
        appendHeader: target.appendHeader,
        removeHeader: target.removeHeader,
        destroy: target.destroy,
    };
    for (const method of HELD_METHODS) {
        if (target[method] === beneath[method])
            target[method] = calls[method];
    }
    return beneath;
}
export function takeOff(res, calls, beneath) {
    const target = res;
    for (const method of HELD_METHODS) {
        if (target[method] === calls[method])
            target[method] = beneath[method];
    }
}
