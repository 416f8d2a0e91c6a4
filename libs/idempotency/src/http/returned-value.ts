import type { RecordedHeader } from '../core/recording.js';
import type { WireAnswer } from './wire/wire-answer.js';

/** What the platform would have done with a value. */
export interface ValueRules {
  /** The Content-Type of a text that the handler returned. */
  readonly textType: string;
  readonly status: number;
  /** Writes an object as the platform would. Throws for what it cannot write. */
  readonly toJson: (value: object) => string | undefined;
  /** The longest body that is recorded. */
  readonly limitBytes: number;
  /** Header lines that the answer would have had in any case. */
  readonly headers: readonly RecordedHeader[];
}

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * The answer that a returned value would have become, for work that returned after somebody else had answered.
 *
 * Text, nothing, and what is written as JSON; anything else, such as a stream, stays unseen.
 */
export function answerWith(value: unknown, { textType, toJson, status, headers, limitBytes }: ValueRules): WireAnswer {
  const whole = (body: string, type?: string): WireAnswer => {
    const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
    const lines: readonly RecordedHeader[] =
      type === undefined || hasType ? headers : [...headers, ['Content-Type', type]];
    const bytes = Buffer.from(body);
    if (bytes.length > limitBytes) return { kind: 'oversized', status, headers: lines };
    return { kind: 'whole', status, headers: lines, body: bytes };
  };
  if (value === undefined || value === null) return whole('');
  if (typeof value === 'string') return whole(value, textType);
  if (typeof value !== 'object' || isBinary(value)) return { kind: 'unseen' };
  try {
    const text = toJson(value);
    return text === undefined ? { kind: 'unseen' } : whole(text, JSON_TYPE);
  } catch {
    return { kind: 'unseen' };
  }
}

/** Bytes, a stream, or Nest's `StreamableFile`. */
function isBinary(value: object): boolean {
  return value instanceof Uint8Array || 'pipe' in value || 'getStream' in value;
}
