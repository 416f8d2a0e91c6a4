import type { OutgoingHttpHeader, ServerResponse } from 'node:http';

/** One header as it was set: an array of values is several lines. */
export type HeaderEntry = readonly [name: string, value: OutgoingHttpHeader];

/** The headers that are set on `res`, with the names as they were written. */
export function headerEntries(res: ServerResponse): HeaderEntry[] {
  // Node has it on every outgoing message; its types only on requests.
  const names = (res as ServerResponse & { getRawHeaderNames(): string[] }).getRawHeaderNames();
  return names.map((name) => [name, res.getHeader(name) ?? ''] as const);
}
