import { OutgoingMessage } from 'node:http';
import { holdingOn } from './holding.js';
import { isLetPass } from './passage.js';
const nodeHeadersSent = Object.getOwnPropertyDescriptor(OutgoingMessage.prototype, 'headersSent');
const HEADERS_SENT = {
    configurable: true,
    get() {
        const holding = holdingOn(this);
        switch (holding?.phase) {
            case 'holding':
                return holding.head !== null || isHeadOut(this);
            case 'sealed':
                return isLetPass(holding) ? isHeadOut(this) : true;
            default:
                return isHeadOut(this);
        }
    },
};
export function showHeadersSent(res) {
    Object.defineProperty(res, 'headersSent', HEADERS_SENT);
}
export function isHeadOut(res) {
    return nodeHeadersSent?.get?.call(res) === true;
}
