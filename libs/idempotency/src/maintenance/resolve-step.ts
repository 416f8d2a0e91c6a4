import type { Operation } from '../core/operation.js';
import type { Outcomes } from '../core/ports.js';
import { encodeStepResult } from '../core/step-codec.js';

/** What somebody found out about a call of which nobody knew whether it had happened. */
export type StepOutcome =
  | { readonly kind: 'happened'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly message: string; readonly details?: unknown }
  | { readonly kind: 'did_not_happen' };

/** Why an outcome could not be put on record. */
export type NotResolved = 'not_found' | 'in_progress';

/**
 * Puts on record what became of a step; null when it is.
 *
 * A step whose result is known is left as it is.
 *
 * @throws {TypeError} for a value that cannot be kept.
 */
export async function resolveStep(
  outcomes: Outcomes,
  operation: Operation,
  step: string,
  outcome: StepOutcome,
): Promise<NotResolved | null> {
  const result = resultOf(outcome);
  const seen = await outcomes.find(operation, step);
  if (seen === null) return 'not_found';
  if (seen.isHeld) return 'in_progress';
  // Of a try that has been made since then, nothing was found out.
  return seen.isKnown || (await outcomes.put(seen, result)) ? null : 'in_progress';
}

/**
 * The result of a step as it is kept; null where its call did not happen.
 *
 * @throws {TypeError} for a value that cannot be kept.
 */
export function resultOf(outcome: StepOutcome): string | null {
  switch (outcome.kind) {
    case 'happened':
      return encodeStepResult({ kind: 'succeeded', value: outcome.value });
    case 'refused':
      return encodeStepResult({ kind: 'refused', message: outcome.message, details: outcome.details });
    case 'did_not_happen':
      return null;
  }
}
