import type { Omission, Recording } from '../core/recording.js';
import { decodedContent } from './content-decoding.js';
import { recordedHeaders } from './replayable-headers.js';
import type { WireAnswer } from './wire/wire-answer.js';

const OMISSIONS = { oversized: 'too_large', client_left: 'client_left', unseen: 'not_seen' } as const satisfies Record<
  string,
  Omission
>;

/**
 * What is kept of an answer for its retries: its status, the headers that speak of its content, and its bytes before
 * any content coding.
 */
export async function recordingOf(
  answer: Exclude<WireAnswer, { kind: 'broken' }>,
  status: number,
  replayHeaders: readonly string[],
  limitBytes: number,
): Promise<Recording> {
  if (answer.kind === 'unseen') return { status, headers: [], body: null, omitted: OMISSIONS.unseen, resource: null };
  const resource = answer.headers.find(([name]) => name.toLowerCase() === 'location')?.[1] ?? null;
  const headers = recordedHeaders(answer.headers, replayHeaders);
  if (answer.kind !== 'whole') {
    return { status, headers, body: null, omitted: OMISSIONS[answer.kind], resource };
  }
  const content = await decodedContent(answer.headers, answer.body, limitBytes);
  return { status, headers: [...headers, ...content.headers], body: content.body, omitted: null, resource };
}
