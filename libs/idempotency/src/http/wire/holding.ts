import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { layOver, type HeldMethod, type ResponseCalls } from './beneath.js';
import type { HeaderSnapshot } from './header-snapshot.js';
import type { FrozenHead } from './response-head.js';
import type { HoldOptions, WireAnswer } from './wire-answer.js';

const HOLDING: unique symbol = Symbol('nestjs-idempotency.holding');

/** A response that carries what is known about its being held. */
export type HeldServerResponse = ServerResponse & { [HOLDING]?: Holding };

/** What is piped into a response; streams of the oldest kind do not tell whether they have ended. */
export type PipedSource = Partial<Readable>;

/** One call the application made, as it made it; `bytes` are what it adds to the body. */
export interface HeldCall {
  readonly method: HeldMethod;
  readonly args: unknown[];
  readonly bytes: Buffer | null;
}

/**
 * What becomes of calls on the response.
 *
 * - `holding`: kept back until the attempt is settled
 * - `passing`: made for real
 * - `foreign`: someone else is answering: his calls are made for real, the attempt's are swallowed
 * - `sealed`: swallowed
 */
export type Phase = 'holding' | 'passing' | 'foreign' | 'sealed';

/** Everything known about one held response: plain state, found from the response by functions all responses share. */
export class Holding {
  phase: Phase = 'holding';
  handlerRuns = true;
  handlerFailed = false;
  head: FrozenHead | null = null;
  calls: HeldCall[] = [];
  sizeBytes = 0;
  hasEnded = false;
  isOversized = false;
  isClosed = false;
  isForeignFromAttempt = false;
  isTold = false;
  /** Callbacks that are to be called when the client takes more. */
  waiting: ((error?: Error | null) => void)[] = [];
  sources: Set<PipedSource> | null = null;
  /** What was piped had failed before anything began: the answer tells of that, and is not its torso. */
  isHeadForFailure = false;
  /** The arguments of the application's `destroy`, made for real once the attempt is settled. */
  destruction: unknown[] | null = null;
  /** Follows a response that is strict about its Content-Length, to fail where Node would. */
  rehearsal: ServerResponse | null = null;
  unseenTimer: NodeJS.Timeout | null = null;
  /** Our own call of a patch over `writeHead` is under way. */
  isHeadAsked = false;

  constructor(
    readonly res: ServerResponse,
    /** What was laid over the response. */
    readonly laid: ResponseCalls,
    /** What lies under it. */
    readonly beneath: ResponseCalls,
    readonly snapshot: HeaderSnapshot,
    readonly limitBytes: number,
    readonly options: HoldOptions,
  ) {}

  /** Another holding was laid over the same response since: this one has no say any more. */
  get isSuperseded(): boolean {
    return holdingOn(this.res) !== this;
  }

  /** Hands the answer over, once. */
  tell(answer: WireAnswer): void {
    if (this.isTold) return;
    this.isTold = true;
    if (this.unseenTimer !== null) clearTimeout(this.unseenTimer);
    this.options.onAnswer(answer);
  }
}

/** The holding that lies on `res`, if any. */
export function holdingOn(res: ServerResponse): Holding | undefined {
  return (res as HeldServerResponse)[HOLDING];
}

/** The holding of a response that is held. */
export function holdingOf(res: ServerResponse): Holding {
  const holding = holdingOn(res);
  if (holding === undefined) throw new TypeError('This response is not held.');
  return holding;
}

/** Lays `calls` over `res`, in place of an earlier holding if there was one. */
export function layHolding(
  res: ServerResponse,
  calls: ResponseCalls,
  snapshot: HeaderSnapshot,
  limitBytes: number,
  options: HoldOptions,
): Holding {
  const beneath = layOver(res, calls, holdingOn(res)?.beneath);
  return ((res as HeldServerResponse)[HOLDING] = new Holding(res, calls, beneath, snapshot, limitBytes, options));
}
