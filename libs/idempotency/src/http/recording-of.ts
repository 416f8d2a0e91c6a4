import { type BodyProtection, sealBody } from '../core/body-protection.js';
import type { Operation } from '../core/operation.js';
import type { Omission, Recording } from '../core/recording.js';
import { decodedContent } from './content-decoding.js';
import { recordedHeaders } from './replayable-headers.js';
import type { WireAnswer } from './wire/wire-answer.js';

const OMISSIONS = { oversized: 'too_large', client_left: 'client_left', unseen: 'not_seen' } as const satisfies Record<
  string,
  Omission
>;

/** Made from a body's bytes, such as Express makes an ETag: whoever guesses a short body can see that he is right. */
const OF_THE_BYTES = new Set(['etag', 'content-digest', 'repr-digest', 'digest', 'content-md5']);

function tellsOfBytes(name: string): boolean {
  return OF_THE_BYTES.has(name.toLowerCase());
}

/** What an endpoint keeps of its answers. */
export interface Keeping {
  /** Headers besides the usual ones. */
  readonly replayHeaders: readonly string[];
  /** The longest body that is kept. */
  readonly limitBytes: number;
  /** Whether bodies are left out on purpose. */
  readonly isStatusOnly: boolean;
  /** What bodies are encrypted with. */
  readonly protection: BodyProtection | undefined;
}

/**
 * What is kept of an answer for its retries: its status, the headers that speak of its content, and its bytes before
 * any content coding, encrypted where the endpoint asks for it.
 *
 * Rejects when a body that is to be encrypted cannot be.
 */
export async function recordingOf(
  answer: Exclude<WireAnswer, { kind: 'broken' }>,
  status: number,
  { replayHeaders, limitBytes, isStatusOnly, protection }: Keeping,
  operation: Operation,
): Promise<Recording> {
  if (answer.kind === 'unseen') return { status, headers: [], body: null, omitted: OMISSIONS.unseen, resource: null };
  const resource = answer.headers.find(([name]) => name.toLowerCase() === 'location')?.[1] ?? null;
  const isSecret = isStatusOnly || protection !== undefined;
  const headers = recordedHeaders(answer.headers, replayHeaders).filter(([name]) => !isSecret || !tellsOfBytes(name));
  if (isStatusOnly) return { status, headers, body: null, omitted: null, resource };
  if (answer.kind !== 'whole') {
    return { status, headers, body: null, omitted: OMISSIONS[answer.kind], resource };
  }
  const content = await decodedContent(answer.headers, answer.body, limitBytes);
  const recording = { status, headers: [...headers, ...content.headers], omitted: null, resource };
  if (content.body === null) return { ...recording, body: null };
  return { ...recording, ...(await sealBody(content.body, protection, operation)) };
}
