import { IdempotencyError } from '../core/errors.js';
import type { Verdict } from '../core/execution.js';

/** How the handler ended, as far as its attempt is concerned. */
export type WorkOutcome =
  | {
      readonly kind: 'returned';
      /** The status the answer had when the handler was done: what it chose, unless something outside changed it. */
      readonly status: number;
    }
  | {
      readonly kind: 'threw';
      readonly error: unknown;
      /** False when the error came before the handler was entered, as from a pipe. */
      readonly hasEntered: boolean;
      /** The error was a deadlock or a serialization failure of the database. */
      readonly isConflict: boolean;
    };

/** Refusals that say nothing about the operation: the same request may succeed at another time. */
const TRANSIENT = new Set([401, 403, 408, 423, 425, 429]);

/**
 * What an endpoint wants done about a failure that its handler threw: keep the answer for every retry, or let retries
 * run again. Undefined leaves it to the usual rule.
 */
export type ErrorRule = (error: unknown, status: number) => 'record' | 'release' | undefined;

/** What an answer with this status means for work that ended so; the table in the design's semantics, in code. */
export function judge(outcome: WorkOutcome, status: number, errors?: ErrorRule): Verdict['kind'] {
  if (outcome.kind === 'returned') {
    if (status >= 500) return 'release';
    // The handler succeeded, but what came after it did not: its success was never told.
    const wasSpoilt = status >= 400 && status !== outcome.status;
    return wasSpoilt ? 'release' : 'commit';
  }
  if (!outcome.hasEntered || outcome.isConflict) return 'release';
  // What the library itself has to say is about this attempt, and not about the operation.
  if (outcome.error instanceof IdempotencyError) return 'release';
  const rule = errors?.(outcome.error, status);
  if (rule === 'record') return 'refuse';
  if (rule === 'release') return 'release';
  if (rule !== undefined)
    throw new TypeError("`errors` returned something else than 'record', 'release' or undefined.");
  return status >= 400 && status < 500 && !TRANSIENT.has(status) ? 'refuse' : 'release';
}
