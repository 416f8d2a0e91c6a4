import { validateHeaderName, validateHeaderValue, type OutgoingHttpHeader, type ServerResponse } from 'node:http';
import type { RecordedHeader } from '../../core/recording.js';
import { headerEntries, type HeaderEntry } from './header-entries.js';
import { rehearseHead } from './rehearsal.js';

/**
 * The headers of `res` with those its `writeHead` adds, by Node's rule: beside headers that are set the added ones
 * replace by name, alone they are sent as they stand. Throws Node's own error at a header it would refuse.
 */
export function mergedEntries(res: ServerResponse, added: object, args: readonly unknown[]): readonly HeaderEntry[] {
  const current = headerEntries(res);
  if (Array.isArray(added)) return mergedList(res, current, added, args);
  const entries = Object.entries(added as Record<string, OutgoingHttpHeader>);
  for (const [name, value] of entries) {
    if (name === '' && current.length > 0) continue;
    validateHeaderName(name);
    validateHeaderValue(name, value as string);
  }
  return current.length === 0 ? entries : replaceByName(current, entries);
}

function replaceByName(current: HeaderEntry[], added: readonly HeaderEntry[]): readonly HeaderEntry[] {
  const merged = new Map<string, HeaderEntry>();
  for (const entry of current) merged.set(entry[0].toLowerCase(), entry);
  for (const entry of added) if (entry[0] !== '') merged.set(entry[0].toLowerCase(), entry);
  return [...merged.values()];
}

/** How lists merge differs between versions of Node, so Node does it. */
function mergedList(
  res: ServerResponse,
  current: HeaderEntry[],
  added: readonly unknown[],
  args: readonly unknown[],
): readonly HeaderEntry[] {
  const scratch = rehearseHead(res, args);
  if (current.length > 0) return headerEntries(scratch);
  if (Array.isArray(added[0])) return added as HeaderEntry[];
  return added.flatMap((name, index) => (index % 2 === 0 ? [[name, added[index + 1]] as HeaderEntry] : []));
}

/** Appends the lines of one header. */
export function pushLines(lines: RecordedHeader[], name: string, value: OutgoingHttpHeader): void {
  if (Array.isArray(value)) for (const one of value) lines.push([name, String(one)]);
  else lines.push([name, String(value)]);
}
