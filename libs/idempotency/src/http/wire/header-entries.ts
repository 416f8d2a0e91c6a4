import type { OutgoingHttpHeader, ServerResponse } from 'node:http';

/** One header as it was set: an array of values is several lines. */
export type HeaderEntry = readonly [name: string, value: OutgoingHttpHeader];

/** The names of the headers that are set on `res`, as they were written. */
export function headerNames(res: ServerResponse): string[] {
  // Node has it on every outgoing message; its types only on requests.
  return (res as ServerResponse & { getRawHeaderNames(): string[] }).getRawHeaderNames();
}

/** The headers that are set on `res`. */
export function headerEntries(res: ServerResponse): HeaderEntry[] {
  return headerNames(res).map((name) => [name, res.getHeader(name) ?? ''] as const);
}
