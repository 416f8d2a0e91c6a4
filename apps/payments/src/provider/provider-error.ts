import { failureOf, type StepFailure } from 'nestjs-idempotency';

/** What the provider said in place of what was asked for. */
export interface ProviderRefusal {
  readonly status: number;
  /** Its own stable name for it, if it gave one. */
  readonly code?: string | undefined;
  readonly detail?: string | undefined;
  /** In seconds. */
  readonly retryAfter?: number | undefined;
}

/** A call that did not bring what was asked for: the provider said otherwise, or nothing that can be understood. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  /** Undefined where there was no answer, or none that can be understood. */
  readonly status: number | undefined;
  /** Kept with the step, when the provider refused it. */
  readonly details: ProviderRefusal | undefined;

  constructor(message: string, refusal?: ProviderRefusal, cause?: unknown) {
    super(message, { cause });
    this.status = refusal?.status;
    this.details = refusal;
  }
}

/**
 * What the failure of a call says: by its status, but for two.
 *
 * A refusal without a code is not the provider's but of something on the way. And `key_reused` is a 422, yet no refusal:
 * something was carried out under this key, which a new release of this app would now ask for in other words.
 */
export function failureOfProvider(error: unknown): StepFailure {
  if (!(error instanceof ProviderError) || !error.details) return failureOf(error);
  const { code } = error.details;
  return code === undefined || code === 'key_reused' ? 'unknown' : failureOf(error);
}
