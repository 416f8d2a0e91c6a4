import type { ServerResponse } from 'node:http';
import { breakOff, noticeAbsence, tellClientLeft } from './answering.js';
import { discard } from './discard.js';
import { takeSnapshot } from './header-snapshot.js';
import { heldCalls } from './held-calls.js';
import { layHolding, type Holding } from './holding.js';
import { dropSources } from './piped-sources.js';
import { release } from './release.js';
import { watchEvents } from './response-events.js';
import type { Held, HoldOptions, OwnAnswer } from './wire-answer.js';

/** The longest body that is recorded, unless it is said otherwise. */
export const DEFAULT_LIMIT_BYTES = 1024 * 1024;
/** Below this a limit would cut off ordinary answers. */
export const LEAST_LIMIT_BYTES = 64 * 1024;

/** What streams report of a connection that closed under them. */
const HANG_UP_CODES = new Set<unknown>(['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', 'ABORT_ERR']);

/**
 * Keeps back what is written to `res` until the attempt is settled, and tells what it was.
 *
 * `res` is Node's response: Express' own, Fastify's `reply.raw`. What middleware has patched onto it stays beneath and
 * sees the held calls when they are released.
 */
export function holdResponse(res: ServerResponse, options: HoldOptions): Held {
  const snapshot = takeSnapshot(res, options.extraHeaders);
  const limitBytes = Math.max(options.limitBytes ?? DEFAULT_LIMIT_BYTES, LEAST_LIMIT_BYTES);
  const holding = layHolding(res, heldCalls, snapshot, limitBytes, options);
  watchEvents(res);
  holding.isClosed = res.closed;
  return new Handle(holding);
}

class Handle implements Held {
  constructor(private readonly holding: Holding) {}

  get hasEnded(): boolean {
    return this.holding.hasEnded || this.holding.phase === 'sealed';
  }

  handlerStarted(): void {
    const { holding } = this;
    holding.handlerRuns = true;
    holding.handlerFailed = false;
    // What an earlier run piped is not this one's answer.
    for (const source of holding.sources ?? []) source.unpipe?.(holding.res);
    dropSources(holding);
    if (holding.unseenTimer !== null) clearTimeout(holding.unseenTimer);
    holding.unseenTimer = null;
  }

  handlerReturned(): void {
    this.holding.handlerRuns = false;
    noticeAbsence(this.holding);
  }

  handlerThrew(error: unknown): void {
    const { holding } = this;
    holding.handlerRuns = false;
    holding.handlerFailed = true;
    if (holding.phase !== 'holding' || holding.hasEnded || holding.head === null) noticeAbsence(holding);
    else if (holding.isClosed && isHangUp(error)) tellClientLeft(holding, holding.head);
    else breakOff(holding, 'threw', error);
  }

  release(): void {
    release(this.holding);
  }

  discard(problem: OwnAnswer): void {
    discard(this.holding, problem);
  }
}

function isHangUp(error: unknown): boolean {
  return HANG_UP_CODES.has((error as { readonly code?: unknown } | null | undefined)?.code);
}
