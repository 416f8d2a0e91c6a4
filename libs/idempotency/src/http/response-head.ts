import { validateHeaderName, validateHeaderValue, type OutgoingHttpHeader, type ServerResponse } from 'node:http';
import type { RecordedHeader } from '../core/recording.js';
import { headerEntries, type HeaderEntry } from './header-entries.js';
import { rehearse } from './rehearsal.js';
import type { AnswerHead } from './wire-answer.js';

/** A head that can no longer change. */
export interface FrozenHead extends AnswerHead {
  /** The reason phrase that was set, empty for Node's own. */
  readonly reason: string;
  /** The protocol allows no body here; Node drops what is written. */
  readonly isBodiless: boolean;
}

const BODILESS = new Set([204, 205, 304]);
const INVALID_REASON = /[^\t\x20-\x7e\x80-\xff]/;

/** Whether answers of this status are replayed without a body. */
export function isBodilessStatus(status: number): boolean {
  return BODILESS.has(status);
}

/**
 * Fixes what `res` would send if its head were written now; throws Node's own error where Node would refuse it.
 *
 * @param args The arguments of `writeHead`, or null when the head is written by the first byte of the body.
 */
export function freezeHead(res: ServerResponse, args: readonly unknown[] | null): FrozenHead {
  const [code, second, third] = args ?? [res.statusCode];
  const reason = typeof second === 'string' ? second : (res.statusMessage ?? '');
  const added = typeof second === 'string' ? third : (third ?? second);
  const status = Number(code) | 0;
  const current = headerEntries(res);
  if (status < 100 || status > 999 || INVALID_REASON.test(reason) || res.hasHeader('trailer')) {
    rehearseHead(res, args ?? [code]);
  }
  const entries = added ? merge(res, current, added, args ?? []) : current;
  return {
    status,
    reason,
    headers: linesOf(entries),
    isBodiless: status < 200 || isBodilessStatus(status) || res.req.method === 'HEAD',
  };
}

function rehearseHead(res: ServerResponse, args: readonly unknown[]): ServerResponse {
  const scratch = rehearse(res);
  Reflect.apply(scratch.writeHead, scratch, args);
  return scratch;
}

/** Node's rule: beside headers that are already set the added ones replace by name; alone they are sent as they stand. */
function merge(res: ServerResponse, current: HeaderEntry[], added: object, args: readonly unknown[]): HeaderEntry[] {
  if (Array.isArray(added)) return mergeList(res, current, added, args);
  const entries = Object.entries(added as Record<string, OutgoingHttpHeader>);
  const merged = current.length > 0 ? new Map(current.map((entry) => [entry[0].toLowerCase(), entry])) : null;
  for (const entry of entries) {
    if (merged !== null && entry[0] === '') continue;
    validateHeaderName(entry[0]);
    validateHeaderValue(entry[0], entry[1] as string);
    merged?.set(entry[0].toLowerCase(), entry);
  }
  return merged === null ? entries : [...merged.values()];
}

/** How lists merge differs between versions of Node, so Node does it. */
function mergeList(
  res: ServerResponse,
  current: HeaderEntry[],
  added: readonly unknown[],
  args: readonly unknown[],
): HeaderEntry[] {
  const scratch = rehearseHead(res, args);
  if (current.length > 0) return headerEntries(scratch);
  if (Array.isArray(added[0])) return added as HeaderEntry[];
  return added.flatMap((name, index) => (index % 2 === 0 ? [[name, added[index + 1]] as HeaderEntry] : []));
}

function linesOf(entries: readonly HeaderEntry[]): RecordedHeader[] {
  const lines: RecordedHeader[] = [];
  for (const [name, value] of entries) {
    if (Array.isArray(value)) for (const one of value) lines.push([name, String(one)]);
    else lines.push([name, String(value)]);
  }
  return lines;
}
