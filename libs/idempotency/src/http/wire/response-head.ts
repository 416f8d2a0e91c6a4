import type { ServerResponse } from 'node:http';
import type { RecordedHeader } from '../../core/recording.js';
import { headerNames } from './header-entries.js';
import { mergedEntries, pushLines } from './header-merge.js';
import { rehearseHead } from './rehearsal.js';
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

/** Whether answers of this status are recorded and replayed without a body. */
export function isBodilessStatus(status: number): boolean {
  return BODILESS.has(status);
}

/**
 * Fixes what `res` would send if its head were written now; throws Node's own error where Node would refuse it.
 *
 * @param args The arguments of `writeHead`, or null when the head is written by the first byte of the body.
 */
export function freezeHead(res: ServerResponse, args: readonly unknown[] | null): FrozenHead {
  const code = args === null ? res.statusCode : args[0];
  const reason = typeof args?.[1] === 'string' ? args[1] : (res.statusMessage ?? '');
  const added = typeof args?.[1] === 'string' ? args[2] : (args?.[2] ?? args?.[1]);
  const status = Number(code) | 0;
  if (status < 100 || status > 999 || (reason !== '' && INVALID_REASON.test(reason)) || res.hasHeader('trailer')) {
    rehearseHead(res, args ?? [code]);
  }
  return {
    status,
    reason,
    headers: added ? linesWith(res, added, args ?? []) : lines(res),
    isBodiless: status < 200 || isBodilessStatus(status) || res.req.method === 'HEAD',
  };
}

function lines(res: ServerResponse): RecordedHeader[] {
  const all: RecordedHeader[] = [];
  for (const name of headerNames(res)) pushLines(all, name, res.getHeader(name) ?? '');
  return all;
}

function linesWith(res: ServerResponse, added: object, args: readonly unknown[]): RecordedHeader[] {
  const all: RecordedHeader[] = [];
  for (const [name, value] of mergedEntries(res, added, args)) pushLines(all, name, value);
  return all;
}
