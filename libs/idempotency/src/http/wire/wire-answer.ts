import type { OutgoingHttpHeaders } from 'node:http';
import type { RecordedHeader } from '../../core/recording.js';

/** What the application answered, seen before a byte of it is sent: what the attempt is settled by. */
export type WireAnswer =
  | WholeAnswer
  | ({ readonly kind: 'oversized' } & AnswerHead)
  | ({ readonly kind: 'client_left' } & AnswerHead)
  | { readonly kind: 'unseen' }
  | { readonly kind: 'broken'; readonly reason: BreakOff; readonly error?: unknown };

/** Status and headers as the application set them; the lines Node adds itself (Date, Connection, framing) are not here. */
export interface AnswerHead {
  readonly status: number;
  /** Every header line in order, repeats as lines of their own. */
  readonly headers: readonly RecordedHeader[];
}

/** An answer that ended; `body` is null where the protocol allows none (204, 205, 304, HEAD). */
export interface WholeAnswer extends AnswerHead {
  readonly kind: 'whole';
  readonly body: Buffer | null;
}

/**
 * Why an answer can never become whole.
 *
 * - `source_unfinished`: ended while a stream piped into it had failed or had more to give
 * - `destroyed`: the application destroyed the response; discarding it destroys it for real, unless there was an error to tell
 * - `threw`: the handler threw after it had begun to write
 * - `cut_short`: someone else ended what the handler was still writing
 * - `undecided`: it tells of an end, and an outside call may or may not have happened
 * - `unrecordable`: it ended, but cannot be recorded in the way its endpoint asks for
 * - `unanswered`: a route that writes its own response returned, and the connection closed without an answer
 */
export type BreakOff =
  'source_unfinished' | 'destroyed' | 'threw' | 'cut_short' | 'undecided' | 'unrecordable' | 'unanswered';

/** An answer the library writes itself: a replay, or a problem in place of what was held. */
export interface OwnAnswer extends AnswerHead {
  /** Null and empty are sent alike: no bytes. */
  readonly body: Uint8Array | string | null;
}

/** What holding has to know, and whom it tells. */
export interface HoldOptions {
  /** How many body bytes are held before the answer counts as oversized. Default 1 MiB, at least 64 KiB. */
  readonly limitBytes?: number;
  /** Whether the route writes its own response (`@Res()` without passthrough). */
  readonly writesOwnResponse: boolean;
  /** Whether the call being made right now comes from this attempt's async context. */
  isFromAttempt(): boolean;
  /** Lower-case names the route itself declares: not part of what a problem answer keeps. */
  readonly declaredHeaders?: readonly string[];
  /** Headers that are set above the raw response and not on it yet (Fastify: `reply.getHeaders()`). */
  readonly extraHeaders?: OutgoingHttpHeaders;
  /**
   * How long, in milliseconds, an answer may take once the handler has settled and the client has left.
   * Default 5000. Afterwards the answer is `unseen`.
   */
  readonly unseenAfterMs?: number;
  /** The handler has begun to write its own answer: its work is over now. At most once, and before `onAnswer`. */
  onWorkOver(): void;
  /** The attempt can be settled. Exactly once, unless `onForeign` was called. */
  onAnswer(answer: WireAnswer): void;
  /** Someone else answers while the handler runs: what goes out is not the operation's. Then `onAnswer` never comes. */
  onForeign(): void;
}

/** A response that says nothing to the client until the attempt is settled. */
export interface Held {
  /** The application has ended its answer, whether or not it was released yet. */
  readonly hasEnded: boolean;
  /** The handler runs, again if an outer retry asks for it. Holding starts in this state. */
  handlerStarted(): void;
  /** The handler returned: from now on an answer that ends is the operation's. */
  handlerReturned(): void;
  /** The handler threw: what it had begun to write is broken off; otherwise the filters' answer is awaited. */
  handlerThrew(error: unknown): void;
  /** Settled: makes the held calls for real, in their original form, and lets everything after them pass. */
  release(): void;
  /** Throws the held answer away, writes `problem` in its place where that is still possible, swallows every later call. */
  discard(problem: OwnAnswer): void;
}
