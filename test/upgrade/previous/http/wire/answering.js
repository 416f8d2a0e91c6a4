import { showHeadersSent } from './headers-sent.js';
import { isOwn } from './ownership.js';
import { hasFailedSource, hasUnfinishedSource } from './piped-sources.js';
import { rehearse } from './rehearsal.js';
import { freezeHead } from './response-head.js';
const DEFAULT_UNSEEN_AFTER_MS = 5000;
export function begin(holding, writeHeadArgs) {
    const { res } = holding;
    const head = freezeHead(res, writeHeadArgs);
    if (res.strictContentLength)
        tryOut(holding, 'writeHead', writeHeadArgs);
    res.statusCode = head.status;
    res.statusMessage = head.reason;
    return setHead(holding, head);
}
export function beginImplicitly(holding) {
    const { res } = holding;
    if (res.writeHead === holding.laid.writeHead)
        return setHead(holding, freezeHead(res, null));
    holding.isHeadAsked = true;
    try {
        res.writeHead(res.statusCode);
    }
    finally {
        holding.isHeadAsked = false;
    }
    return holding.head ?? setHead(holding, freezeHead(res, null));
}
function setHead(holding, head) {
    holding.head = head;
    holding.isHeadForFailure = hasFailedSource(holding);
    showHeadersSent(holding.res);
    if (holding.handlerRuns)
        holding.options.onWorkOver();
    return head;
}
export function tryOut(holding, method, args) {
    const rehearsal = holding.rehearsal ?? rehearse(holding.res);
    Reflect.apply(rehearsal[method], rehearsal, args);
    holding.rehearsal = rehearsal;
}
export function tellEnded(holding, head, hadBegun) {
    const { status, headers } = head;
    if (hadBegun && holding.handlerRuns && !isOwn(holding))
        return breakOff(holding, 'cut_short');
    const isTorso = hadBegun && !holding.isHeadForFailure && hasUnfinishedSource(holding);
    if (isTorso)
        return breakOff(holding, 'source_unfinished');
    if (holding.sizeBytes > holding.limitBytes)
        return tellOversized(holding, head);
    if (isEndDoubtful(holding, head))
        return holding.tell({ kind: 'client_left', status, headers });
    holding.tell({ kind: 'whole', status, headers, body: head.isBodiless ? null : heldBody(holding) });
}
export function tellOversized(holding, head) {
    holding.isOversized = true;
    holding.tell({ kind: 'oversized', status: head.status, headers: head.headers });
}
export function breakOff(holding, reason, error) {
    if (holding.isTold)
        return;
    holding.phase = 'sealed';
    showHeadersSent(holding.res);
    holding.tell({ kind: 'broken', reason, ...(error !== undefined && { error }) });
}
export function noticeAbsence(holding) {
    if (!holding.isClosed || holding.isTold || holding.hasEnded || holding.phase !== 'holding')
        return;
    const { head, handlerRuns, options } = holding;
    if (head !== null) {
        if (!handlerRuns || hasUnfinishedSource(holding))
            tellClientLeft(holding, head);
    }
    else if (!handlerRuns) {
        if (options.writesOwnResponse && !holding.handlerFailed)
            return breakOff(holding, 'unanswered');
        holding.unseenTimer ??= setTimeout(tellUnseen, options.unseenAfterMs ?? DEFAULT_UNSEEN_AFTER_MS, holding);
        holding.unseenTimer.unref();
    }
}
export function tellClientLeft(holding, head) {
    holding.tell({ kind: 'client_left', status: head.status, headers: head.headers });
}
export function tellUnseen(holding) {
    holding.tell({ kind: 'unseen' });
}
function isEndDoubtful(holding, head) {
    if (!holding.isClosed || holding.handlerRuns || head.isBodiless)
        return false;
    const isInOnePiece = holding.sizeBytes > 0 && holding.calls.every(({ method }) => method !== 'write');
    return !isInOnePiece && declaredLength(head) !== holding.sizeBytes;
}
function declaredLength(head) {
    const line = head.headers.find(([name]) => name.toLowerCase() === 'content-length');
    return line === undefined ? null : Number(line[1]);
}
function heldBody(holding) {
    const parts = [];
    for (const { bytes } of holding.calls)
        if (bytes !== null)
            parts.push(bytes);
    const [first] = parts;
    return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts);
}
