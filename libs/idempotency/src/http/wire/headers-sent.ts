import { OutgoingMessage, type ServerResponse } from 'node:http';
import { holdingOn } from './holding.js';
import { isLetPass } from './passage.js';

const nodeHeadersSent = Object.getOwnPropertyDescriptor(OutgoingMessage.prototype, 'headersSent');

const HEADERS_SENT: PropertyDescriptor = {
  configurable: true,
  get(this: ServerResponse): boolean {
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

/**
 * Lets `headersSent` say that the application has begun, although nothing is on the wire.
 *
 * Frameworks read it to decide whether they can still answer. It stays on the response: after the release it tells
 * what Node tells.
 */
export function showHeadersSent(res: ServerResponse): void {
  Object.defineProperty(res, 'headersSent', HEADERS_SENT);
}

/** Whether the real head is written. */
export function isHeadOut(res: ServerResponse): boolean {
  return nodeHeadersSent?.get?.call(res) === true;
}
