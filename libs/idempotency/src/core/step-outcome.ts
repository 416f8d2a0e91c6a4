import { storeUnavailable } from './errors.js';
import type { KnownStep } from './ports.js';
import { uuidOf } from './provider-key.js';
import { encodeStepResult, type StepResult } from './step-codec.js';
import type { StepCall, StepTerms } from './step-terms.js';

/** One announcement of a call, and what was known of it then. */
export interface Announced extends KnownStep {
  /** When it has to be over, on the clock of this process: before anybody can take the claim over. */
  readonly endsAt: number;
}

/** What came of one try. */
export type Outcome =
  | { readonly kind: 'known'; readonly result: StepResult; readonly cause?: unknown }
  | { readonly kind: 'no_effect'; readonly error: unknown }
  | { readonly kind: 'unknown'; readonly error: unknown };

/**
 * Makes a call that was announced, once it is found out what came of the tries before it.
 *
 * Never rejects. It is over when its time is, or when `lost` is aborted, whatever the call goes on doing.
 */
export async function outcomeOf<Result>(
  { providerKey, tries, endsAt }: Announced,
  make: (call: StepCall) => Promise<Result>,
  { deadlineMs, judge, whenUnknown }: StepTerms<Result>,
  lost: AbortSignal,
): Promise<Outcome> {
  const call = { providerKey, providerUuid: uuidOf(providerKey), tries };
  /** An earlier try, of which nobody knows: one that certainly had no effect is not on record any more. */
  let mayHaveHappened = tries > 1;
  if (mayHaveHappened && whenUnknown !== 'repeat') {
    if (whenUnknown === 'hold') return { kind: 'unknown', error: undefined };
    try {
      const found = await within(deadlineMs, lost, (signal) => whenUnknown({ ...call, signal }));
      if (found !== undefined) return succeeded(found);
      mayHaveHappened = false;
    } catch (error) {
      return { kind: 'unknown', error };
    }
  }
  // That this try had no effect says nothing of those before it.
  const noEffect = (error: unknown): Outcome => ({ kind: mayHaveHappened ? 'unknown' : 'no_effect', error });
  if (performance.now() + deadlineMs > endsAt) return noEffect(storeUnavailable(tooLate()));
  try {
    return succeeded(await within(deadlineMs, lost, (signal) => make({ ...call, signal })));
  } catch (error) {
    const failure = error instanceof DeadlineError || lost.aborted ? 'unknown' : judge(error);
    switch (failure) {
      case 'refused':
        return { kind: 'known', result: refusal(error), cause: error };
      case 'no_effect':
        return noEffect(error);
      case 'unknown':
        return { kind: 'unknown', error };
    }
  }
}

/** A call took longer than it may. */
class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

function tooLate(): Error {
  return new Error('It took too long to announce the call, which would outlive its claim; it was not made.');
}

function succeeded(value: unknown): Outcome {
  return { kind: 'known', result: { kind: 'succeeded', value } };
}

function refusal(error: unknown): StepResult {
  const message = error instanceof Error ? error.message : String(error);
  const details = typeof error === 'object' && error !== null && 'details' in error ? error.details : undefined;
  return { kind: 'refused', message, details: canBeKept(details) ? details : undefined };
}

function canBeKept(value: unknown): boolean {
  try {
    encodeStepResult({ kind: 'succeeded', value });
    return true;
  } catch {
    return false;
  }
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
