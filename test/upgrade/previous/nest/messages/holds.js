import { Pauses } from '../../core/patience.js';
const CLOSING_HOLD_MS = 1_000;
export class Holds {
    constructor() {
        this.pauses = new Pauses();
        this.hasClosed = false;
    }
    get isClosing() {
        return this.hasClosed;
    }
    hold(ms) {
        return this.pauses.for(this.hasClosed ? Math.min(ms, CLOSING_HOLD_MS) : ms);
    }
    close() {
        this.hasClosed = true;
        this.pauses.endAll();
    }
}
