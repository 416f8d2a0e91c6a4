import { takeOff } from './beneath.js';
import type { HeldCall, Holding } from './holding.js';
import { ignoreEvents } from './response-events.js';

/** Makes the held calls for real, in their original form, and lets everything after them pass. */
export function release(holding: Holding): void {
  if (holding.phase !== 'holding' || holding.isSuperseded) return;
  const { res, head } = holding;
  const { statusCode, statusMessage } = res;
  letGo(holding);
  if (head !== null) {
    res.statusCode = head.status;
    res.statusMessage = head.reason;
  }
  try {
    makeCalls(holding);
  } catch (error) {
    // Nobody is left to throw at. What was answered stands recorded, and a retry is given it.
    res.destroy(error as Error);
  }
  // Changing the status of a head that is written is without effect on the wire, but loggers read it.
  if (head !== null && statusCode !== head.status) Object.assign(res, { statusCode, statusMessage });
}

function letGo(holding: Holding): void {
  holding.phase = 'passing';
  ignoreEvents(holding.res);
  takeOff(holding.res, holding.laid, holding.beneath);
}

function makeCalls(holding: Holding): void {
  const { res, beneath, waiting } = holding;
  const calls = holding.isOversized ? joinWrites(holding.calls) : holding.calls;
  let takesMore = true;
  for (const { method, args } of calls) {
    const returned = beneath[method].apply(res, args);
    if (method === 'write' && returned === false) takesMore = false;
  }
  holding.calls = [];
  holding.waiting = [];
  holding.sources = null;
  for (const callback of waiting) process.nextTick(callback);
  if (holding.isOversized && takesMore && !holding.hasEnded) process.nextTick(() => res.emit('drain'));
}

/** All that was held beyond the limit goes out as one write. */
function joinWrites(calls: readonly HeldCall[]): HeldCall[] {
  const joined: HeldCall[] = [];
  let parts: Buffer[] = [];
  const flush = (): void => {
    if (parts.length > 0) joined.push({ method: 'write', args: [Buffer.concat(parts)], bytes: null });
    parts = [];
  };
  for (const call of calls) {
    if (call.method === 'write' && call.bytes !== null) {
      parts.push(call.bytes);
    } else {
      flush();
      joined.push(call);
    }
  }
  flush();
  return joined;
}
