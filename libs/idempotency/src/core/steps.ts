import type { Claim } from './claim.js';
import { outcomeUnknown, workBroken } from './errors.js';
import { Pauses } from './patience.js';
import type { KnownStep, Session } from './ports.js';
import { uuidOf } from './provider-key.js';
import { decodeStepResult, encodeStepResult, type StepResult } from './step-codec.js';

/** What an outside call is given. */
export interface StepCall {
  /** The key that the provider is to know this call by: the same on every try of this step. */
  readonly providerKey: string;
  /** The same as a UUID. */
  readonly providerUuid: string;
  /** Aborted when the call's time is over, or when the claim was taken over. */
  readonly signal: AbortSignal;
  /** Which try of the step this is, over all attempts at the operation, counted from 1. */
  readonly tries: number;
}

/**
 * What the failure of a call says.
 *
 * - `refused`: the provider said no, and would say so again
 * - `no_effect`: it certainly did not happen: the call can be made again
 * - `unknown`: it may have happened
 */
export type StepFailure = 'refused' | 'no_effect' | 'unknown';

/**
 * What to do about a call that may have happened.
 *
 * - `repeat`: make it again under the same key, which the provider keeps
 * - `hold`: nothing, until somebody says what happened
 * - a function: ask the provider; undefined says that it did not happen
 */
export type WhenUnknown<Result> = 'repeat' | 'hold' | ((call: StepCall) => Promise<Result | undefined>);

/** The terms of one step. */
export interface StepTerms<Result> {
  readonly providerKey: string;
  /** How long one call may take. */
  readonly deadlineMs: number;
  /** How often it is tried in one attempt at the operation. */
  readonly maxTries: number;
  /** How long to wait before the next try. */
  readonly pauseMs: (tries: number) => number;
  readonly judge: (error: unknown) => StepFailure;
  readonly whenUnknown: WhenUnknown<Result>;
}

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

/** By how much a claim outlives the deadline of a call made under it. */
const MARGIN_MS = 5_000;

type Outcome =
  | { readonly kind: 'known'; readonly result: StepResult; readonly cause?: unknown }
  | { readonly kind: 'no_effect'; readonly error: unknown }
  | { readonly kind: 'unknown'; readonly error: unknown; readonly isHeld: boolean };

/** The outside calls of one claimed operation: announced before they are made, and kept when they are known. */
export class Steps {
  /** Announced, and not known to have happened or not. */
  private readonly open = new Set<string>();
  private readonly underWay = new Set<string>();
  private readonly pauses = new Pauses();
  private talking: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly session: Session<unknown>,
    private readonly claim: Claim,
    private readonly lost: AbortSignal,
  ) {}

  /** A call may have happened, and nobody knows: what the operation is must not be decided yet. */
  get hasUnknown(): boolean {
    return this.open.size > 0;
  }

  get isUnderWay(): boolean {
    return this.underWay.size > 0;
  }

  /**
   * Makes the call, or gives back what came of it on an earlier attempt.
   *
   * Rejects with {@link StepRefusedError} where the provider refused; with the call's own error where it had no
   * effect; with `idempotency-outcome-unknown` where nobody can tell; with `idempotency-work-broken` where the claim
   * is lost. Nothing of the store is held while the call is made.
   */
  async run<Result>(
    step: string,
    make: (call: StepCall) => Promise<Result>,
    terms: StepTerms<Result>,
  ): Promise<Result> {
    if (this.underWay.has(step))
      throw workBroken(`The step '${step}' is under way already. Give each step a name of its own.`);
    this.underWay.add(step);
    try {
      for (let tries = 1; ; tries++) {
        const known = await this.intend(step, terms);
        if (known.result !== null) return valueOf(step, decodeStepResult(known.result)) as Result;
        const outcome = await this.outcomeOf(step, known, make, terms);
        if (outcome.kind === 'known') {
          await this.finish(step, outcome.result);
          return valueOf(step, outcome.result, outcome.cause) as Result;
        }
        if (outcome.kind === 'no_effect') await this.withdraw(step);
        const isLast = tries >= terms.maxTries || (outcome.kind === 'unknown' && outcome.isHeld) || this.lost.aborted;
        if (isLast) throw outcome.kind === 'unknown' ? outcomeUnknown(step, outcome.error) : outcome.error;
        await this.pauses.for(terms.pauseMs(tries), this.lost);
      }
    } finally {
      this.underWay.delete(step);
    }
  }

  /** Says, for somebody who found it out, what became of a step; null says that it did not happen. */
  async resolve(step: string, providerKey: string, result: StepResult | null): Promise<void> {
    const known = await this.intend(step, { providerKey, deadlineMs: 0 });
    if (known.result !== null) return;
    if (result === null) await this.withdraw(step);
    else await this.finish(step, result);
  }

  private async outcomeOf<Result>(
    step: string,
    { providerKey, tries }: KnownStep,
    make: (call: StepCall) => Promise<Result>,
    { deadlineMs, judge, whenUnknown }: StepTerms<Result>,
  ): Promise<Outcome> {
    const isHeld = whenUnknown === 'hold';
    const call = { providerKey, providerUuid: uuidOf(providerKey), tries };
    try {
      if (tries > 1 && whenUnknown !== 'repeat') {
        if (whenUnknown === 'hold') return { kind: 'unknown', error: undefined, isHeld };
        const found = await within(deadlineMs, this.lost, (signal) => whenUnknown({ ...call, signal }));
        if (found !== undefined) return succeeded(found);
      }
    } catch (error) {
      return { kind: 'unknown', error, isHeld };
    }
    try {
      return succeeded(await within(deadlineMs, this.lost, (signal) => make({ ...call, signal })));
    } catch (error) {
      const failure = error instanceof DeadlineError || this.lost.aborted ? 'unknown' : judge(error);
      if (failure === 'refused') return { kind: 'known', result: refusal(error), cause: error };
      return failure === 'no_effect' ? { kind: failure, error } : { kind: failure, error, isHeld };
    }
  }

  private async intend(
    step: string,
    { providerKey, deadlineMs }: Pick<StepTerms<unknown>, 'providerKey' | 'deadlineMs'>,
  ): Promise<KnownStep> {
    this.open.add(step);
    const intent = { step, providerKey, leaseMs: deadlineMs + MARGIN_MS };
    const known = await this.talk(() => this.session.intend(this.claim, intent));
    if (known === null) throw lostClaim();
    if (known.result !== null) this.open.delete(step);
    return known;
  }

  private async finish(step: string, result: StepResult): Promise<void> {
    const text = encodeStepResult(result);
    if (!(await this.talk(() => this.session.finish(this.claim, step, text)))) throw lostClaim();
    this.open.delete(step);
  }

  private async withdraw(step: string): Promise<void> {
    if (!(await this.talk(() => this.session.withdraw(this.claim, step)))) throw lostClaim();
    this.open.delete(step);
  }

  /** One word with the store at a time; nothing of it is held afterwards. */
  private talk<Answer>(say: () => Promise<Answer>): Promise<Answer> {
    const answer = this.talking.then(say).finally(() => this.session.rest());
    this.talking = answer.catch(() => undefined);
    return answer;
  }
}

/** A call took longer than it may. */
class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

function succeeded(value: unknown): Outcome {
  return { kind: 'known', result: { kind: 'succeeded', value } };
}

function refusal(error: unknown): StepResult {
  const message = error instanceof Error ? error.message : String(error);
  const details = typeof error === 'object' && error !== null && 'details' in error ? error.details : undefined;
  return { kind: 'refused', message, details };
}

/** What a step gives back is what later attempts will be given, also the first time. */
function valueOf(step: string, result: StepResult, cause?: unknown): unknown {
  const kept = decodeStepResult(encodeStepResult(result));
  if (kept.kind === 'succeeded') return kept.value;
  throw new StepRefusedError(step, kept.message, kept.details, cause);
}

function lostClaim(): Error {
  return workBroken('The claim was taken over by another worker.');
}

/** Runs what may take `ms` milliseconds; rejects when they are over or `lost` is aborted, whatever it does then. */
async function within<Result>(
  ms: number,
  lost: AbortSignal,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  lost.throwIfAborted();
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new DeadlineError(`The call took longer than ${ms} ms.`)), ms);
  const onLost = (): void => over.abort(lost.reason);
  lost.addEventListener('abort', onLost);
  try {
    const ended = new Promise<never>((_, reject) => {
      over.signal.addEventListener('abort', () => reject(over.signal.reason as Error));
    });
    return await Promise.race([run(over.signal), ended]);
  } finally {
    clearTimeout(timer);
    lost.removeEventListener('abort', onLost);
  }
}
