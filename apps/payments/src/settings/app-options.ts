export interface AppOptions {
  readonly databaseUrl: string;
  /** Where the card provider listens, without a slash at its end. */
  readonly providerUrl?: string;
  readonly providerApiKey?: string;
  /** How long one call to the provider may take, in milliseconds. */
  readonly providerDeadlineMs?: number;
  /** What the keys of calls to the provider are derived with. */
  readonly providerKeySecret?: string;
  /** What the provider signs its events with: `whsec_` and base64. */
  readonly webhookSecret?: string;
  /** Where RabbitMQ is; without it nothing is consumed from it, or published to it. */
  readonly rabbitMqUrl?: string;
  /** Where NATS is, with JetStream; the same. */
  readonly natsUrl?: string;
  /** What the names of queues, exchanges, streams and subjects begin with. */
  readonly brokerPrefix?: string;
  /** How often the work of a message is begun before the message is dead-lettered. */
  readonly messageTries?: number;
}

/** Has no default: without it something is not done. */
type Optional = 'rabbitMqUrl' | 'natsUrl';

/** Every option, decided. */
export type DecidedOptions = Required<Omit<AppOptions, Optional>> & Pick<AppOptions, Optional>;

/** For the demo; none of it is a secret. */
export const DEFAULTS = {
  providerUrl: 'http://localhost:4000',
  providerApiKey: 'sk_test_demo',
  providerDeadlineMs: 10_000,
  providerKeySecret: 'the secret of a demo is none',
  webhookSecret: 'whsec_YSBkZW1vIHNlY3JldCBvZiB0aGlydHktdHdvIGJ5dGVz',
  brokerPrefix: 'payments',
  messageTries: 10,
} as const satisfies Omit<Required<AppOptions>, 'databaseUrl' | Optional>;
