import { showHeadersSent } from './headers-sent.js';
import type { Holding } from './holding.js';
import { isOwn } from './ownership.js';
import { hasFailedSource, hasUnfinishedSource } from './piped-sources.js';
import { rehearse } from './rehearsal.js';
import { freezeHead, type FrozenHead } from './response-head.js';
import type { BreakOff } from './wire-answer.js';

const DEFAULT_UNSEEN_AFTER_MS = 5000;

/**
 * Fixes the head: from here on the application has begun.
 *
 * Throws Node's own error where Node would refuse the head; then nothing has begun.
 */
export function begin(holding: Holding, writeHeadArgs: readonly unknown[]): FrozenHead {
  const { res } = holding;
  const head = freezeHead(res, writeHeadArgs);
  if (res.strictContentLength) tryOut(holding, 'writeHead', writeHeadArgs);
  res.statusCode = head.status;
  res.statusMessage = head.reason;
  return setHead(holding, head);
}

/** Fixes the head that the first byte of the body brings about. */
export function beginImplicitly(holding: Holding): FrozenHead {
  const { res } = holding;
  if (res.writeHead === holding.laid.writeHead) return setHead(holding, freezeHead(res, null));
  // Somebody patched writeHead over ours; Node would call him now, and so he can still change the head.
  holding.isHeadAsked = true;
  try {
    res.writeHead(res.statusCode);
  } finally {
    holding.isHeadAsked = false;
  }
  return holding.head ?? setHead(holding, freezeHead(res, null));
}

function setHead(holding: Holding, head: FrozenHead): FrozenHead {
  holding.head = head;
  holding.isHeadForFailure = hasFailedSource(holding);
  showHeadersSent(holding.res);
  if (holding.handlerRuns) holding.options.onWorkOver();
  return head;
}

/** Makes a call on a response without a connection first: one that is strict about its Content-Length may refuse it. */
export function tryOut(holding: Holding, method: 'writeHead' | 'write' | 'end', args: readonly unknown[]): void {
  const rehearsal = holding.rehearsal ?? rehearse(holding.res);
  Reflect.apply(rehearsal[method], rehearsal, args);
  holding.rehearsal = rehearsal;
}

/** Tells what has become of an answer that was ended. */
export function tellEnded(holding: Holding, head: FrozenHead, hadBegun: boolean): void {
  const { status, headers } = head;
  if (hadBegun && holding.handlerRuns && !isOwn(holding)) return breakOff(holding, 'cut_short');
  const isTorso = hadBegun && !holding.isHeadForFailure && hasUnfinishedSource(holding);
  if (isTorso) return breakOff(holding, 'source_unfinished');
  if (holding.sizeBytes > holding.limitBytes) return tellOversized(holding, head);
  if (isEndDoubtful(holding, head)) return holding.tell({ kind: 'client_left', status, headers });
  holding.tell({ kind: 'whole', status, headers, body: head.isBodiless ? null : heldBody(holding) });
}

/** Tells that the limit is passed; what is written from now on waits for the release. */
export function tellOversized(holding: Holding, head: FrozenHead): void {
  holding.isOversized = true;
  holding.tell({ kind: 'oversized', status: head.status, headers: head.headers });
}

/** Tells that no whole answer can come any more, and seals the response until it is discarded. */
export function breakOff(holding: Holding, reason: BreakOff, error?: unknown): void {
  if (holding.isTold) return;
  holding.phase = 'sealed';
  showHeadersSent(holding.res);
  holding.tell({ kind: 'broken', reason, ...(error !== undefined && { error }) });
}

/** Looks, whenever the client has left or the handler has settled, whether an answer can still come. */
export function noticeAbsence(holding: Holding): void {
  if (!holding.isClosed || holding.isTold || holding.hasEnded || holding.phase !== 'holding') return;
  const { head, handlerRuns, options } = holding;
  if (head !== null) {
    // The pipe stops with the connection; whoever writes by hand may go on for as long as the handler runs.
    if (!handlerRuns || hasUnfinishedSource(holding)) tellClientLeft(holding, head);
  } else if (!handlerRuns) {
    if (options.writesOwnResponse && !holding.handlerFailed) return breakOff(holding, 'unanswered');
    holding.unseenTimer ??= setTimeout(tellUnseen, options.unseenAfterMs ?? DEFAULT_UNSEEN_AFTER_MS, holding);
    holding.unseenTimer.unref();
  }
}

/** Tells that the client left while the body was being written. */
export function tellClientLeft(holding: Holding, head: FrozenHead): void {
  holding.tell({ kind: 'client_left', status: head.status, headers: head.headers });
}

/** Tells that the client left and nobody answered. */
export function tellUnseen(holding: Holding): void {
  holding.tell({ kind: 'unseen' });
}

/**
 * Streams are cancelled when the client leaves, and the end of a cancelled stream looks like any other. Then only a
 * body that came with the end, or that is as long as declared, is known to be whole.
 */
function isEndDoubtful(holding: Holding, head: FrozenHead): boolean {
  if (!holding.isClosed || holding.handlerRuns || head.isBodiless) return false;
  const isInOnePiece = holding.sizeBytes > 0 && holding.calls.every(({ method }) => method !== 'write');
  return !isInOnePiece && declaredLength(head) !== holding.sizeBytes;
}

function declaredLength(head: FrozenHead): number | null {
  const line = head.headers.find(([name]) => name.toLowerCase() === 'content-length');
  return line === undefined ? null : Number(line[1]);
}

function heldBody(holding: Holding): Buffer {
  const parts: Buffer[] = [];
  for (const { bytes } of holding.calls) if (bytes !== null) parts.push(bytes);
  const [first] = parts;
  return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts);
}
