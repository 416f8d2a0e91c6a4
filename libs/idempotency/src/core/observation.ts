import type { IdempotencyErrorCode } from './errors.js';
import type { Operation } from './operation.js';
import { operationHash } from './operation-hash.js';
import { type Channel, type Ending, endingOf, type OutcomeName } from './outcome.js';

/** A part of an attempt; a step is known by its name. */
export type Part = 'claim' | 'work' | 'record' | { readonly step: string };

/** Told what attempts do. Nothing it makes of that changes them; none of it may throw. */
export interface Observer {
  /** Where the running code stands in the application's own trace; the protocol only carries it along. */
  here(): unknown;
  /** Calls `run`, at once, as a part of the attempt: what that begins belongs to the part. */
  trace<Result>(part: Part, observation: Observation, run: () => Promise<Result>): Promise<Result>;
  /** The attempt holds its operation from now on, until it ends. */
  claimed(observation: Observation): void;
  /** The claim was found to be taken over. */
  lost(observation: Observation): void;
  ended(observation: Observation): void;
}

/** What an attempt has come to, as the application is told. */
export interface OutcomeEvent {
  readonly channel: Channel;
  readonly endpoint: string;
  readonly outcome: OutcomeName;
  /** What its caller was told, where the library has told it. */
  readonly error?: IdempotencyErrorCode;
  /** Whose operation it is; absent where that was not found out. */
  readonly tenant?: string;
  /** Names the operation without telling its key: the same for every attempt, and in logs and spans. */
  readonly keyHash?: string;
  /** Which attempt at the operation this was, counted from 1; absent where it did not get the claim. */
  readonly attempts?: number;
  /** How long it took to claim the operation or to find what stands in the way, in milliseconds, without waiting. */
  readonly claimMs?: number;
  /** How long the handler ran, in milliseconds, over all its runs in this attempt. */
  readonly workMs?: number;
}

/** One attempt, followed from its arrival to its end. The first end that it is told of is the one that counts. */
export class Observation {
  readonly origin: unknown;
  operation: Operation | undefined;
  /** What the record meant for it; undefined where it never came so far. */
  decision: 'claimed' | 'replay' | OutcomeName | undefined;
  attempts: number | undefined;
  claimMs: number | undefined;
  workMs: number | undefined;
  ending: Ending | undefined;
  private hash: string | undefined;
  private isLost = false;

  constructor(
    private readonly observer: Observer,
    readonly channel: Channel,
    readonly endpoint: string,
  ) {
    this.origin = observer.here();
  }

  get keyHash(): string | undefined {
    return (this.hash ??= this.operation && operationHash(this.operation));
  }

  /** Finds out which operation it is; where that cannot be, it has ended. */
  async identify<Found extends { readonly operation: Operation } | null>(
    find: () => Promise<Found> | Found,
  ): Promise<Found> {
    try {
      const found = await find();
      this.operation = found?.operation;
      return found;
    } catch (error) {
      this.end(endingOf(error, 'denied'));
      throw error;
    }
  }

  /** Calls `run`, at once, as a part of it. */
  trace<Result>(part: Part, run: () => Promise<Result>): Promise<Result> {
    return this.observer.trace(part, this, run);
  }

  /** Looks for the claim, which is the time that claiming takes. */
  async claiming<Result>(claim: () => Promise<Result>): Promise<Result> {
    const since = performance.now();
    try {
      return await claim();
    } finally {
      this.claimMs = (this.claimMs ?? 0) + performance.now() - since;
    }
  }

  /** Runs the handler, as its work. */
  async working<Result>(work: () => Promise<Result>): Promise<Result> {
    const since = performance.now();
    try {
      return await this.trace('work', work);
    } finally {
      this.workMs = (this.workMs ?? 0) + performance.now() - since;
    }
  }

  /** Finds what a recording gives back, which ends it. */
  async replaying<Result>(find: () => Promise<Result>): Promise<Result> {
    try {
      const found = await find();
      this.end({ outcome: 'replayed' });
      return found;
    } catch (error) {
      this.end(endingOf(error, 'denied'));
      throw error;
    }
  }

  claimed(attempts: number): void {
    this.attempts = attempts;
    this.observer.claimed(this);
  }

  /** Its claim was found to be taken over. */
  lose(): void {
    if (this.isLost) return;
    this.isLost = true;
    this.observer.lost(this);
  }

  end(ending: Ending): void {
    if (this.ending) return;
    this.ending = ending;
    this.observer.ended(this);
  }
}

/** What has happened, once it has ended. */
export function outcomeEvent(observation: Observation): OutcomeEvent {
  const { channel, endpoint, ending, operation, keyHash, attempts, claimMs, workMs } = observation;
  return {
    channel,
    endpoint,
    ...ending!,
    ...(operation && { tenant: operation.tenant }),
    ...(keyHash !== undefined && { keyHash }),
    ...(attempts !== undefined && { attempts }),
    ...(claimMs !== undefined && { claimMs }),
    ...(workMs !== undefined && { workMs }),
  };
}

const NOBODY: Observer = {
  here: () => undefined,
  trace: (_part, _observation, run) => run(),
  claimed: () => undefined,
  lost: () => undefined,
  ended: () => undefined,
};

/** An attempt that nobody follows. */
export function unobserved({ endpoint }: Operation): Observation {
  return new Observation(NOBODY, 'service', endpoint);
}
