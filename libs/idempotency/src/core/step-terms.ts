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

/** By how much a claim outlives the deadline of a call made under it; what its announcement may take. */
const MARGIN_MS = 5_000;

/** How long the claim has to outlive the announcement: its lookup and its call fit in, one after the other. */
export function leaseMsFor<Result>({ deadlineMs, whenUnknown }: StepTerms<Result>): number {
  return (typeof whenUnknown === 'function' ? 2 : 1) * deadlineMs + MARGIN_MS;
}
