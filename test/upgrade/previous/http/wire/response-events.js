import { noticeAbsence } from './answering.js';
import { holdingOn } from './holding.js';
export function watchEvents(res) {
    res.on('pipe', notePipe).on('unpipe', noteUnpipe).on('close', noteClose);
}
export function ignoreEvents(res) {
    res.off('pipe', notePipe).off('unpipe', noteUnpipe).off('close', noteClose);
}
function notePipe(source) {
    const holding = holdingOn(this);
    if (holding !== undefined)
        (holding.sources ??= new Set()).add(source);
}
function noteUnpipe(source) {
    holdingOn(this)?.sources?.delete(source);
}
function noteClose() {
    const holding = holdingOn(this);
    if (holding === undefined)
        return;
    holding.isClosed = true;
    noticeAbsence(holding);
}
