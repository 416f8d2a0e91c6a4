import type { Response } from '../wire/socket.js';
import { RUN_HEADER } from './script.js';

/** A request, as far as it differs from the usual one: `POST /plain` with the run as its key, and an amount. */
export interface Sending {
  readonly method?: string;
  /** With its query. */
  readonly path?: string;
  /** As it is to stand in its header line; null for no such line. */
  readonly key?: string | null;
  /** Further header lines, as they are. */
  readonly lines?: readonly string[];
  /** The media type of the body. */
  readonly type?: string;
  /** As it is to stand on the wire; null for a message without a body. */
  readonly body?: string | Buffer | null;
}

/** A response, with what it answers. */
export interface Answer extends Response {
  readonly run: string;
  readonly path: string;
}

export const AMOUNT = '{"amount":100}';

export function pathOf({ path = '/plain' }: Sending): string {
  return path;
}

/** The bytes of a request; its head is written one byte a character. */
export function bytesOf(run: string, sending: Sending): Buffer {
  const { method = 'POST', key = run, lines = [], type = 'application/json', body = AMOUNT } = sending;
  const content = Buffer.from(body ?? '');
  const head = [
    `${method} ${pathOf(sending)} HTTP/1.1`,
    'Host: shop.test',
    'Connection: close',
    `${RUN_HEADER}: ${run}`,
    ...(key === null ? [] : [`Idempotency-Key: ${key}`]),
    ...(body === null ? [] : [`Content-Type: ${type}`, `Content-Length: ${content.length}`]),
    ...lines,
  ].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), content]);
}
