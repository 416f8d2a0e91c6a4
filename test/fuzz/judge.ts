import { expect } from '@jest/globals';
import type { Response } from '../wire/socket.js';
import { type Message, shown } from './message.js';

/** One message that was sent, and what came back. */
export interface Sent {
  readonly message: Message;
  readonly mark: string;
  /** Null when the connection was closed without an answer. */
  readonly answer: Response | null;
}

/** Whether its client was told what became of it. */
export function wasTold(sent: Sent): sent is Sent & { readonly answer: Response } {
  return sent.answer !== null && !(sent.message.isEndless && isOfParser(sent.answer));
}

export function isReplay(answer: Response): boolean {
  return answer.header('Idempotent-Replayed') !== undefined;
}

/** The second of two equal messages gets what the first got, or is told that it was too long to be kept. */
export function expectReplay(
  { message, answer: first }: Sent & { readonly answer: Response },
  { answer: second }: Sent & { readonly answer: Response },
  limitBytes: number,
): void {
  if (kindOf(second) === '409 idempotency-response-unavailable') {
    expect(first.payload.length).toBeGreaterThan(limitBytes);
    return;
  }
  expect([shown(message), kindOf(second)]).toEqual([shown(message), `${first.status} replayed`]);
  expect(second.payload.equals(first.payload)).toBe(true);
}

/** Who said what. */
export function kindOf(answer: Response | null): string {
  if (answer === null) return 'no answer';
  if (isOfParser(answer)) return `${answer.status} of the parser`;
  if (isReplay(answer)) return `${answer.status} replayed`;
  const type = answer.header('Content-Type') ?? '';
  if (!type.startsWith('application/problem+json')) return `${answer.status}`;
  const { code, reason = '' } = answer.json();
  return `${answer.status} ${code} ${reason}`.trim();
}

/**
 * The parser's own refusal: of this request, or of what stands behind it, before this one is answered. It is written
 * past the response, and so without a Date.
 */
function isOfParser(answer: Response): boolean {
  return answer.status >= 400 && answer.header('Date') === undefined;
}
