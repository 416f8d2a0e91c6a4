import { type AppOptions, DEFAULTS } from './app-options.js';

/** Every option of the app, decided. */
export class Settings implements Required<AppOptions> {
  readonly databaseUrl: string;
  readonly providerUrl: string;
  readonly providerApiKey: string;
  readonly providerDeadlineMs: number;
  readonly providerKeySecret: string;
  readonly webhookSecret: string;

  constructor(options: AppOptions) {
    const settings = { ...DEFAULTS, ...options };
    this.databaseUrl = settings.databaseUrl;
    this.providerUrl = settings.providerUrl;
    this.providerApiKey = settings.providerApiKey;
    this.providerDeadlineMs = settings.providerDeadlineMs;
    this.providerKeySecret = settings.providerKeySecret;
    this.webhookSecret = settings.webhookSecret;
  }
}
