import { type AppOptions, type DecidedOptions, DEFAULTS } from './app-options.js';

/** Every option of the app, decided. */
export class Settings implements DecidedOptions {
  readonly databaseUrl: string;
  readonly providerUrl: string;
  readonly providerApiKey: string;
  readonly providerDeadlineMs: number;
  readonly providerKeySecret: string;
  readonly webhookSecret: string;
  readonly rabbitMqUrl?: string;
  readonly natsUrl?: string;
  readonly brokerPrefix: string;
  readonly messageTries: number;

  constructor(options: AppOptions) {
    const settings = { ...DEFAULTS, ...options };
    this.databaseUrl = settings.databaseUrl;
    this.providerUrl = settings.providerUrl;
    this.providerApiKey = settings.providerApiKey;
    this.providerDeadlineMs = settings.providerDeadlineMs;
    this.providerKeySecret = settings.providerKeySecret;
    this.webhookSecret = settings.webhookSecret;
    if (settings.rabbitMqUrl !== undefined) this.rabbitMqUrl = settings.rabbitMqUrl;
    if (settings.natsUrl !== undefined) this.natsUrl = settings.natsUrl;
    this.brokerPrefix = settings.brokerPrefix;
    this.messageTries = settings.messageTries;
  }
}
