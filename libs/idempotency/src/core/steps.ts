import type { Claim } from './claim.js';
import {
  DEFAULT_RETRY_AFTER_MS,
  IdempotencyError,
  outcomeUnknown,
  stepRefused,
  storeUnavailable,
  workBroken,
} from './errors.js';
import type { Observation } from './observation.js';
import { pauseMs, Pauses } from './patience.js';
import type { Session } from './ports.js';
import { decodeStepResult, encodeStepResult } from './step-codec.js';
import { type Announced, outcomeOf } from './step-outcome.js';
import { leaseMsFor, type StepCall, type StepTerms } from './step-terms.js';

export type { StepCall, StepFailure, StepTerms, WhenUnknown } from './step-terms.js';

/** The provider's refusal of a step, also on every later attempt. */
export class StepRefusedError extends Error {
  override readonly name = 'StepRefusedError';

  constructor(
    readonly step: string,
    message: string,
    /** What the provider said, as far as it could be kept. */
    readonly details: unknown,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** A provider's refusal as the library tells it; any other error as it is. */
export function toldOf(error: unknown): unknown {
  return error instanceof StepRefusedError ? stepRefused(error.step, error) : error;
}

/** How often it is tried to keep a result: what is known of a call now may never be known again. */
const MAX_FINISHES = 3;

/** The outside calls of one claimed operation: announced before they are made, and kept when they are known. */
export class Steps {
  /** Announced, and not known to have happened or not: when its call is over for certain, on this process's clock. */
  private readonly open = new Map<string, number>();
  private readonly underWay = new Map<string, Promise<unknown>>();
  private readonly pauses = new Pauses();
  private talking: Promise<unknown> = Promise.resolve();
  private hasSuccess = false;
  /** What calls have failed with that had no effect. */
  private readonly passing = new WeakSet<object>();

  constructor(
    private readonly session: Session<unknown>,
    private readonly claim: Claim,
    private readonly lost: AbortSignal,
    private readonly observation: Observation,
  ) {}

  /** A call may have happened, and nobody knows: what the operation is must not be decided yet. */
  get hasUnknown(): boolean {
    return this.open.size > 0;
  }

  /**
   * For how much longer, in milliseconds, a call of which nobody knows may be on its way: until then nobody else is to
   * make it, nor to ask the provider, who could say that there is nothing and be wrong a moment later.
   */
  get underWayMs(): number {
    return Math.max(0, Math.max(0, ...this.open.values()) - performance.now());
  }

  /** A call has had its effect, as far as this attempt has learnt. */
  get hasSucceeded(): boolean {
    return this.hasSuccess;
  }

  /** Whether a call that certainly had no effect has failed with this, so that the same one may succeed next time. */
  isPassing(error: unknown): boolean {
    return typeof error === 'object' && error !== null && this.passing.has(error);
  }

  get isUnderWay(): boolean {
    return this.underWay.size > 0;
  }

  /**
   * Makes the call, or gives back what came of it on an earlier attempt.
   *
   * Rejects with {@link StepRefusedError} where the provider refused; with the call's own error where it had no
   * effect; with `idempotency-outcome-unknown` where nobody can tell; with `idempotency-store-unavailable` where the
   * store does not answer; with `idempotency-request-in-progress` where the claim is lost. Nothing of the store is held
   * while the call is made.
   */
  async run<Result>(
    step: string,
    make: (call: StepCall) => Promise<Result>,
    terms: StepTerms<Result>,
  ): Promise<Result> {
    if (this.underWay.has(step))
      throw workBroken(`The step '${step}' is under way already. Give each step a name of its own.`);
    const running = this.observation
      .trace({ step }, () => this.tryOut(step, make, terms))
      .finally(() => this.underWay.delete(step));
    this.underWay.set(step, running);
    return running;
  }

  /** Resolves once no step is under way, which takes no longer than the deadlines of their calls. */
  async idle(): Promise<void> {
    while (this.isUnderWay) await Promise.allSettled(this.underWay.values());
  }

  private async tryOut<Result>(
    step: string,
    make: (call: StepCall) => Promise<Result>,
    terms: StepTerms<Result>,
  ): Promise<Result> {
    for (let tries = 1; ; tries++) {
      const untilOverMs = (this.open.get(step) ?? 0) - performance.now();
      if (untilOverMs > 0) await this.pauses.for(untilOverMs, this.lost);
      const announced = await this.announce(step, terms.providerKey, leaseMsFor(terms));
      if (announced.result !== null) return this.known(step, announced.result) as Result;
      let overAt = 0;
      const call = (given: StepCall): Promise<Result> => {
        this.open.set(step, (overAt = performance.now() + terms.deadlineMs));
        return make(given);
      };
      const outcome = await outcomeOf(announced, call, terms, this.lost);
      // The provider may be at it still, whatever has come of the connection. Under a key of its own it will know.
      const isAskedAbout = outcome.kind === 'unknown' && typeof terms.whenUnknown === 'function';
      this.open.set(step, isAskedAbout ? overAt : 0);
      if (outcome.kind === 'known') {
        const text = encodeStepResult(outcome.result);
        await this.finish(step, text);
        return this.known(step, text, outcome.cause) as Result;
      }
      if (outcome.kind === 'no_effect') {
        await this.withdraw(step);
        if (typeof outcome.error === 'object' && outcome.error !== null) this.passing.add(outcome.error);
      }
      const isHeld = outcome.kind === 'unknown' && terms.whenUnknown === 'hold';
      if (isHeld || tries >= terms.maxTries || this.lost.aborted) {
        throw outcome.kind === 'unknown' ? outcomeUnknown(step, outcome.error) : outcome.error;
      }
      await this.pauses.for(terms.pauseMs(tries), this.lost);
    }
  }

  private async announce(step: string, providerKey: string, leaseMs: number): Promise<Announced> {
    const endsAt = performance.now() + leaseMs;
    this.open.set(step, endsAt);
    try {
      const known = await this.talk(() => this.session.intend(this.claim, { step, providerKey, leaseMs }));
      if (known === null) throw this.taken();
      if (known.result !== null) this.open.set(step, 0);
      return { ...known, endsAt };
    } catch (error) {
      this.open.set(step, 0);
      throw error;
    }
  }

  private async finish(step: string, result: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        if (await this.talk(() => this.session.finish(this.claim, step, result))) return;
        throw this.taken();
      } catch (error) {
        const isSilent = error instanceof IdempotencyError && error.code === 'idempotency-store-unavailable';
        if (!isSilent || tries === MAX_FINISHES) throw error;
        await this.pauses.for(pauseMs(tries), this.lost);
      }
    }
  }

  private async withdraw(step: string): Promise<void> {
    if (!(await this.talk(() => this.session.withdraw(this.claim, step)))) throw this.taken();
    this.open.delete(step);
  }

  /** One word with the store at a time; nothing of it is held afterwards. */
  private talk<Answer>(say: () => Promise<Answer>): Promise<Answer> {
    const answer = this.talking
      .then(say)
      .finally(() => this.session.rest())
      .catch((error: unknown) => {
        throw storeUnavailable(error);
      });
    this.talking = answer.catch(() => undefined);
    return answer;
  }

  private taken(): Error {
    this.observation.lose();
    return lostClaim();
  }

  /** What a step gives back is what later attempts will be given, also the first time. */
  private known(step: string, text: string, cause?: unknown): unknown {
    const result = decodeStepResult(text);
    this.open.delete(step);
    if (result.kind === 'refused') throw new StepRefusedError(step, result.message, result.details, cause);
    this.hasSuccess = true;
    return result.value;
  }
}

/** Whoever has the operation now goes on with it: nothing is broken, and there will be an answer. */
function lostClaim(): Error {
  return new IdempotencyError(
    'idempotency-request-in-progress',
    'Another attempt at this operation has taken over. Try again later with the same key.',
    { retryAfterMs: DEFAULT_RETRY_AFTER_MS },
  );
}
