import { layOver } from './beneath.js';
const HOLDING = Symbol('nestjs-idempotency.holding');
export class Holding {
    constructor(res, laid, beneath, snapshot, limitBytes, options) {
        this.res = res;
        this.laid = laid;
        this.beneath = beneath;
        this.snapshot = snapshot;
        this.limitBytes = limitBytes;
        this.options = options;
        this.phase = 'holding';
        this.handlerRuns = true;
        this.handlerFailed = false;
        this.head = null;
        this.calls = [];
        this.sizeBytes = 0;
        this.hasEnded = false;
        this.isOversized = false;
        this.isClosed = false;
        this.isForeignFromAttempt = false;
        this.isTold = false;
        this.waiting = [];
        this.sources = null;
        this.isHeadForFailure = false;
        this.destruction = null;
        this.rehearsal = null;
        this.unseenTimer = null;
        this.isHeadAsked = false;
    }
    get isSuperseded() {
        return holdingOn(this.res) !== this;
    }
    tell(answer) {
        if (this.isTold)
            return;
        this.isTold = true;
        if (this.unseenTimer !== null)
            clearTimeout(this.unseenTimer);
        this.options.onAnswer(answer);
    }
}
export function holdingOn(res) {
    return res[HOLDING];
}
export function holdingOf(res) {
    const holding = holdingOn(res);
    if (holding === undefined)
        throw new TypeError('This response is not held.');
    return holding;
}
export function layHolding(res, calls, snapshot, limitBytes, options) {
    const beneath = layOver(res, calls, holdingOn(res)?.beneath);
    return (res[HOLDING] = new Holding(res, calls, beneath, snapshot, limitBytes, options));
}
