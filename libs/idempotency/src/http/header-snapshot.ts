import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { ResponseCalls } from './beneath.js';
import { headerEntries, type HeaderEntry } from './header-entries.js';

/** The headers a response had at one moment, by lower-case name. */
export interface HeaderSnapshot {
  readonly entries: ReadonlyMap<string, HeaderEntry>;
  readonly sendDate: boolean;
}

/** Remembers the headers of `res`, with those that are still kept above it. */
export function takeSnapshot(res: ServerResponse, extra: OutgoingHttpHeaders = {}): HeaderSnapshot {
  const entries = new Map<string, HeaderEntry>();
  for (const [name, value] of headerEntries(res)) entries.set(name.toLowerCase(), [name, copyOf(value)]);
  for (const [name, value] of Object.entries(extra)) {
    const key = name.toLowerCase();
    if (value !== undefined) entries.set(key, [entries.get(key)?.[0] ?? name, copyOf(value)]);
  }
  return { entries, sendDate: res.sendDate };
}

/** Brings the headers of `res` back to the snapshot, without the names in `leftOut`. */
export function restoreSnapshot(
  res: ServerResponse,
  beneath: ResponseCalls,
  snapshot: HeaderSnapshot,
  leftOut: ReadonlySet<string>,
): void {
  for (const name of res.getHeaderNames()) {
    if (!snapshot.entries.has(name) || leftOut.has(name)) beneath.removeHeader.call(res, name);
  }
  for (const [key, [name, value]] of snapshot.entries) {
    if (!leftOut.has(key)) beneath.setHeader.call(res, name, copyOf(value));
  }
  // Removing a Date the application had set also switches Node's own off.
  res.sendDate = snapshot.sendDate;
}

/** `appendHeader` grows the array that is set. */
function copyOf(value: OutgoingHttpHeader): OutgoingHttpHeader {
  return Array.isArray(value) ? [...value] : value;
}
