/** Where a call can be held: nothing is touched yet; all is written, nothing committed; all is committed. */
export const PLACES = ['before', 'during', 'after'] as const;
export type Place = (typeof PLACES)[number];

/** What a call can suffer. */
export type CallFault =
  /** It is answered late. */
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** 503, and nothing was done. */
  | { readonly kind: 'error_before' }
  /** 500, and all was done. */
  | { readonly kind: 'error_after' }
  /** Its connection is destroyed, and nothing was done. */
  | { readonly kind: 'cut_before' }
  /** Its connection is destroyed, and all was done. */
  | { readonly kind: 'cut_after' }
  /** It is never answered, and nothing was done. */
  | { readonly kind: 'no_answer_before' }
  /** It is never answered, and all was done. */
  | { readonly kind: 'no_answer' }
  /** 429, and nothing was done. */
  | { readonly kind: 'rate_limited'; readonly retryAfterS: number }
  /** 200 with half a body, and all was done. */
  | { readonly kind: 'malformed' }
  /** It stands there until it is released, and then goes on as if nothing had been. */
  | { readonly kind: 'hold'; readonly at: Place };

/** What the event of a call can suffer. */
export type WebhookFault =
  /** It is delivered a second time, right after it was acknowledged. */
  | { readonly kind: 'duplicate_webhook' }
  /** The call is answered once its event was acknowledged, or given up. */
  | { readonly kind: 'webhook_before_answer' }
  /** It waits that long, or, without a delay, for the command to send it. */
  | { readonly kind: 'late_webhook'; readonly delayMs?: number }
  /** Its first attempts get nowhere, and nobody but the provider knows. */
  | { readonly kind: 'lost_webhook'; readonly attempts: number };

export type Fault = CallFault | WebhookFault;

const CALL_FAULTS = [
  'slow',
  'error_before',
  'error_after',
  'cut_before',
  'cut_after',
  'no_answer_before',
  'no_answer',
  'rate_limited',
  'malformed',
  'hold',
] as const satisfies readonly CallFault['kind'][];

const WEBHOOK_FAULTS = [
  'duplicate_webhook',
  'webhook_before_answer',
  'late_webhook',
  'lost_webhook',
] as const satisfies readonly WebhookFault['kind'][];

export const FAULT_KINDS = [...CALL_FAULTS, ...WEBHOOK_FAULTS] as const;

export const isWebhookFault = (fault: Fault): fault is WebhookFault =>
  WEBHOOK_FAULTS.some((kind) => kind === fault.kind);
