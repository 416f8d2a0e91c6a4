import { begin, beginImplicitly } from './answering.js';
import { holdingOf } from './holding.js';
import { fateOf, fateOfAnswering } from './ownership.js';
import { headSent } from './rehearsal.js';
export function writeHead(...args) {
    const holding = holdingOf(this);
    switch (fateOfAnswering(holding)) {
        case 'pass':
            return holding.beneath.writeHead.apply(this, args);
        case 'swallow':
            return this;
        case 'hold':
            if (holding.head !== null)
                headSent().writeHead(200);
            begin(holding, args);
            if (!holding.isHeadAsked)
                holding.calls.push({ method: 'writeHead', args, bytes: null });
            return this;
    }
}
export function flushHeaders() {
    const holding = holdingOf(this);
    switch (fateOfAnswering(holding)) {
        case 'pass':
            return holding.beneath.flushHeaders.call(this);
        case 'swallow':
            return undefined;
        case 'hold':
            if (holding.head === null)
                beginImplicitly(holding);
            holding.calls.push({ method: 'flushHeaders', args: [], bytes: null });
            return undefined;
    }
}
export const setHeader = headerCall('setHeader');
export const setHeaders = headerCall('setHeaders');
export const appendHeader = headerCall('appendHeader');
export const removeHeader = headerCall('removeHeader');
function headerCall(method) {
    return function (...args) {
        const holding = holdingOf(this);
        const fate = fateOf(holding);
        if (fate === 'swallow')
            return this;
        if (fate === 'hold' && holding.head !== null)
            return Reflect.apply(headSent()[method], headSent(), args);
        return holding.beneath[method].apply(this, args);
    };
}
