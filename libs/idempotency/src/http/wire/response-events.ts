import type { ServerResponse } from 'node:http';
import { noticeAbsence } from './answering.js';
import { holdingOn, type PipedSource } from './holding.js';

/** Watches the response for streams that are piped into it and for the end of its connection. */
export function watchEvents(res: ServerResponse): void {
  res.on('pipe', notePipe).on('unpipe', noteUnpipe).on('close', noteClose);
}

/** Stops watching. */
export function ignoreEvents(res: ServerResponse): void {
  res.off('pipe', notePipe).off('unpipe', noteUnpipe).off('close', noteClose);
}

function notePipe(this: ServerResponse, source: PipedSource): void {
  const holding = holdingOn(this);
  if (holding !== undefined) (holding.sources ??= new Set()).add(source);
}

function noteUnpipe(this: ServerResponse, source: PipedSource): void {
  holdingOn(this)?.sources?.delete(source);
}

function noteClose(this: ServerResponse): void {
  const holding = holdingOn(this);
  if (holding === undefined) return;
  holding.isClosed = true;
  noticeAbsence(holding);
}
