import { type AppOptions, DEFAULTS, type Keys, type Search } from './app-options.js';

/** How the provider behaves. What is not `readonly` the control API changes while it runs. */
export class Settings {
  readonly apiKeys: readonly string[];
  readonly webhookSecret: string;
  readonly webhookRetryMs: number;
  keys: Keys;
  search: Search;
  webhookUrl: string | undefined;

  constructor(options: AppOptions) {
    const settings = { ...DEFAULTS, ...options };
    this.apiKeys = settings.apiKeys;
    this.webhookSecret = settings.webhookSecret;
    this.webhookRetryMs = settings.webhookRetryMs;
    this.keys = settings.keys;
    this.search = settings.search;
    this.webhookUrl = settings.webhookUrl;
  }
}
