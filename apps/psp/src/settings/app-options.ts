/** Whether a key that is sent is kept and honoured, or every call does its work anew. */
export const KEYS = ['kept', 'ignored'] as const;
export type Keys = (typeof KEYS)[number];

/** Whether charges and refunds can be found by their reference. */
export const SEARCH = ['on', 'off'] as const;
export type Search = (typeof SEARCH)[number];

export interface AppOptions {
  readonly databaseUrl: string;
  /** Each is a merchant of its own. */
  readonly apiKeys?: readonly string[];
  readonly keys?: Keys;
  readonly search?: Search;
  /** Where events are delivered. Without it none are written; the control API can set it later. */
  readonly webhookUrl?: string;
  /** `whsec_` and at least 24 bytes in base64. */
  readonly webhookSecret?: string;
  /** How long after the first failed delivery the second follows; every further wait is twice as long. */
  readonly webhookRetryMs?: number;
}

/** For the demo; none of it is a secret. */
export const DEFAULTS = {
  apiKeys: ['sk_test_demo'],
  keys: 'kept',
  search: 'on',
  webhookSecret: 'whsec_YSBkZW1vIHNlY3JldCBvZiB0aGlydHktdHdvIGJ5dGVz',
  webhookRetryMs: 1_000,
} as const satisfies Omit<Required<AppOptions>, 'databaseUrl' | 'webhookUrl'>;
