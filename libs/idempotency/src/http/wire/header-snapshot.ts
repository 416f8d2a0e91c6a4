import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { ResponseCalls } from './beneath.js';
import { headerNames } from './header-entries.js';

/** The headers a response had at one moment; taken for every request and seldom needed, so it is kept raw. */
export interface HeaderSnapshot {
  readonly names: readonly string[];
  readonly values: readonly OutgoingHttpHeader[];
  readonly extra: OutgoingHttpHeaders | undefined;
  readonly sendDate: boolean;
}

/** Remembers the headers of `res`, with those that are still kept above it. */
export function takeSnapshot(res: ServerResponse, extra: OutgoingHttpHeaders | undefined): HeaderSnapshot {
  const names = headerNames(res);
  const values: OutgoingHttpHeader[] = [];
  for (const name of names) values.push(copyOf(res.getHeader(name) ?? ''));
  return { names, values, extra, sendDate: res.sendDate };
}

/** Brings the headers of `res` back to the snapshot, without the lower-case names in `leftOut`. */
export function restoreSnapshot(
  res: ServerResponse,
  beneath: ResponseCalls,
  snapshot: HeaderSnapshot,
  leftOut: ReadonlySet<string>,
): void {
  const entries = entriesOf(snapshot);
  for (const name of leftOut) entries.delete(name);
  for (const name of res.getHeaderNames()) {
    if (!entries.has(name)) beneath.removeHeader.call(res, name);
  }
  for (const [name, value] of entries.values()) beneath.setHeader.call(res, name, value);
  // Removing a Date the application had set also switches Node's own off.
  res.sendDate = snapshot.sendDate;
}

function entriesOf({ names, values, extra = {} }: HeaderSnapshot): Map<string, [string, OutgoingHttpHeader]> {
  const entries = new Map<string, [string, OutgoingHttpHeader]>();
  names.forEach((name, index) => entries.set(name.toLowerCase(), [name, copyOf(values[index] ?? '')]));
  for (const [name, value] of Object.entries(extra)) {
    const key = name.toLowerCase();
    if (value !== undefined) entries.set(key, [entries.get(key)?.[0] ?? name, copyOf(value)]);
  }
  return entries;
}

/** `appendHeader` grows the array that is set. */
function copyOf(value: OutgoingHttpHeader): OutgoingHttpHeader {
  return Array.isArray(value) ? [...value] : value;
}
