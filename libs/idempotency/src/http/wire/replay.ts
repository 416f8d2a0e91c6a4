import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Recording } from '../../core/recording.js';
import { takeSnapshot } from './header-snapshot.js';
import { heldCalls } from './held-calls.js';
import { layHolding } from './holding.js';
import { writeOwnAnswer } from './own-answer.js';
import type { HoldOptions, OwnAnswer } from './wire-answer.js';

/** The header that marks a replay. */
export const REPLAYED_HEADER = 'Idempotent-Replayed';

const UNWATCHED: HoldOptions = {
  writesOwnResponse: false,
  isFromAttempt: () => false,
  onWorkOver: () => undefined,
  onAnswer: () => undefined,
  onForeign: () => undefined,
};

/** What the response has beside the answer. */
export interface Surroundings {
  /** Headers that are set above the raw response (Fastify: `reply.getHeaders()`). */
  readonly extraHeaders?: OutgoingHttpHeaders;
  /** Lower-case names the route itself declares: the answer has its own. */
  readonly declaredHeaders?: readonly string[];
}

/** The answer that gives a recording back, marked as a replay. */
export function replayOf({ status, headers, body }: Recording): OwnAnswer {
  return { status, headers: [...headers, [REPLAYED_HEADER, 'true']], body };
}

/**
 * Writes `answer` on a response nobody has answered yet, and swallows whatever the application calls on it afterwards.
 *
 * Headers already on the response stay, unless the answer has them too. On Fastify the reply has to be hijacked before.
 * Resolves when the answer is out or the client has left.
 */
export function replay(res: ServerResponse, answer: OwnAnswer, surroundings: Surroundings = {}): Promise<void> {
  const snapshot = takeSnapshot(res, surroundings.extraHeaders);
  const holding = layHolding(res, heldCalls, snapshot, 0, UNWATCHED);
  return new Promise((resolve) => {
    if (res.closed) resolve();
    res.once('finish', resolve).once('close', resolve);
    writeOwnAnswer(holding, answer, surroundings.declaredHeaders ?? []);
  });
}
