/** The stable names of every refusal and fault; part of the public contract. */
export type IdempotencyErrorCode =
  | 'idempotency-key-missing'
  | 'idempotency-key-invalid'
  | 'idempotency-key-reused'
  | 'idempotency-payload-unsupported'
  | 'idempotency-payload-invalid'
  | 'idempotency-replay-forbidden'
  | 'idempotency-request-in-progress'
  | 'idempotency-response-unavailable'
  | 'idempotency-key-expired'
  | 'idempotency-outcome-unknown'
  | 'idempotency-step-refused'
  | 'idempotency-scope-unresolved'
  | 'idempotency-fingerprint-failed'
  | 'idempotency-store-unavailable'
  | 'idempotency-shutting-down'
  | 'idempotency-work-conflict'
  | 'idempotency-work-broken';

export interface IdempotencyErrorDetails {
  /** A finer, equally stable name of what is wrong, such as `too_long`. */
  readonly reason?: string;
  /** When trying again can help, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Where the operation's result lives. */
  readonly resource?: string;
  readonly cause?: unknown;
}

/**
 * A refusal the caller must see, or a fault of the store or of the work.
 *
 * Its message is safe to show: it names the remedy and never a key, a payload or a fingerprint. What caused it is in
 * `cause`, for logs.
 */
export class IdempotencyError extends Error {
  override readonly name = 'IdempotencyError';
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly resource: string | undefined;

  constructor(
    readonly code: IdempotencyErrorCode,
    message: string,
    details: IdempotencyErrorDetails = {},
  ) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.reason = details.reason;
    this.retryAfterMs = details.retryAfterMs;
    this.resource = details.resource;
  }
}

/** Nothing was found that could name a tenant, and nothing will be found the next time. */
export class UnknownTenantError extends Error {
  override readonly name = 'UnknownTenantError';
}

/** How long a caller is asked to wait, in milliseconds, when nothing better is known. */
export const DEFAULT_RETRY_AFTER_MS = 1_000;

/** The store could not answer: nothing has run, or nothing that ran was committed, as far as anyone can know. */
export function storeUnavailable(cause?: unknown): IdempotencyError {
  return new IdempotencyError(
    'idempotency-store-unavailable',
    'The idempotency store did not answer, so the request was not processed. Try again with the same key.',
    { retryAfterMs: DEFAULT_RETRY_AFTER_MS, cause },
  );
}

/** No new work is taken while the application shuts down. */
export function shuttingDown(): IdempotencyError {
  return new IdempotencyError(
    'idempotency-shutting-down',
    'The application is shutting down. Try again with the same key.',
    { retryAfterMs: DEFAULT_RETRY_AFTER_MS },
  );
}

/** An outside call may have had its effect, and nobody can tell: the operation waits, with what is known of it. */
export function outcomeUnknown(step?: string, cause?: unknown): IdempotencyError {
  return new IdempotencyError(
    'idempotency-outcome-unknown',
    `It is not known whether ${step === undefined ? 'a step' : `the step '${step}'`} of this operation has happened. ` +
      'Try again later with the same key.',
    { retryAfterMs: DEFAULT_RETRY_AFTER_MS, cause },
  );
}

/** The provider of an outside call said no. */
export function stepRefused(step: string, cause?: unknown): IdempotencyError {
  return new IdempotencyError('idempotency-step-refused', `The step '${step}' of this operation was refused.`, {
    cause,
  });
}

/** A deadlock or a serialization failure: tried again, the same work may succeed. */
export function gaveWay(cause: unknown): IdempotencyError {
  return new IdempotencyError(
    'idempotency-work-conflict',
    'The request had to give way to another one and was undone. Try again with the same key.',
    { retryAfterMs: DEFAULT_RETRY_AFTER_MS, cause },
  );
}

/** The work's transaction cannot be committed because of what was done in it. */
export function workBroken(message: string, cause?: unknown): IdempotencyError {
  return new IdempotencyError('idempotency-work-broken', message, { cause });
}
