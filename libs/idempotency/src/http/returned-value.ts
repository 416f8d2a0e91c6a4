import type { RecordedHeader } from '../core/recording.js';
import type { WireAnswer } from './wire/wire-answer.js';

/** What the platform would have done with a value. */
export interface ValueRules {
  /** The Content-Type of a text that the handler returned. */
  readonly textType: string;
  readonly status: number;
  /** Header lines that the answer would have had in any case. */
  readonly headers: readonly RecordedHeader[];
}

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * The answer that a returned value would have become, for work that returned after somebody else had answered.
 *
 * Text, nothing, and what is written as JSON; anything else, such as a stream, stays unseen.
 */
export function answerWith(value: unknown, { textType, status, headers }: ValueRules): WireAnswer {
  const whole = (body: string, type?: string): WireAnswer => {
    const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
    const lines: readonly RecordedHeader[] =
      type === undefined || hasType ? headers : [...headers, ['Content-Type', type]];
    return { kind: 'whole', status, headers: lines, body: Buffer.from(body) };
  };
  if (value === undefined || value === null) return whole('');
  if (typeof value === 'string') return whole(value, textType);
  if (typeof value !== 'object' || isBinary(value)) return { kind: 'unseen' };
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? { kind: 'unseen' } : whole(text, JSON_TYPE);
  } catch {
    return { kind: 'unseen' };
  }
}

/** Bytes, a stream, or Nest's `StreamableFile`. */
function isBinary(value: object): boolean {
  return value instanceof Uint8Array || 'pipe' in value || 'getStream' in value;
}
