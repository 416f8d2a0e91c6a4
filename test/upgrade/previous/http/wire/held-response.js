import { breakOff, noticeAbsence, tellClientLeft } from './answering.js';
import { discard } from './discard.js';
import { takeSnapshot } from './header-snapshot.js';
import { heldCalls } from './held-calls.js';
import { layHolding } from './holding.js';
import { dropSources } from './piped-sources.js';
import { release } from './release.js';
import { watchEvents } from './response-events.js';
export const DEFAULT_LIMIT_BYTES = 1024 * 1024;
export const LEAST_LIMIT_BYTES = 64 * 1024;
const HANG_UP_CODES = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', 'ABORT_ERR']);
export function holdResponse(res, options) {
    const snapshot = takeSnapshot(res, options.extraHeaders);
    const limitBytes = Math.max(options.limitBytes ?? DEFAULT_LIMIT_BYTES, LEAST_LIMIT_BYTES);
    const holding = layHolding(res, heldCalls, snapshot, limitBytes, options);
    watchEvents(res);
    holding.isClosed = res.closed;
    return new Handle(holding);
}
class Handle {
    constructor(holding) {
        this.holding = holding;
    }
    get hasEnded() {
        return this.holding.hasEnded || this.holding.phase === 'sealed';
    }
    handlerStarted() {
        const { holding } = this;
        holding.handlerRuns = true;
        holding.handlerFailed = false;
        for (const source of holding.sources ?? [])
            source.unpipe?.(holding.res);
        dropSources(holding);
        if (holding.unseenTimer !== null)
            clearTimeout(holding.unseenTimer);
        holding.unseenTimer = null;
    }
    handlerReturned() {
        this.holding.handlerRuns = false;
        noticeAbsence(this.holding);
    }
    handlerThrew(error) {
        const { holding } = this;
        holding.handlerRuns = false;
        holding.handlerFailed = true;
        if (holding.phase !== 'holding' || holding.hasEnded || holding.head === null)
            noticeAbsence(holding);
        else if (holding.isClosed && isHangUp(error))
            tellClientLeft(holding, holding.head);
        else
            breakOff(holding, 'threw', error);
    }
    release() {
        release(this.holding);
    }
    discard(problem) {
        discard(this.holding, problem);
    }
}
function isHangUp(error) {
    return HANG_UP_CODES.has(error?.code);
}
