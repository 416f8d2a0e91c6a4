import { type AppOptions, DEFAULTS, KEYS, SEARCH } from './settings/app-options.js';

export interface Environment extends Required<Omit<AppOptions, 'webhookUrl'>> {
  readonly webhookUrl?: string;
  readonly port: number;
}

/** Throws with a line fit to be shown when a variable is missing or makes no sense. */
export function readEnvironment(variables: NodeJS.ProcessEnv): Environment {
  const { DATABASE_URL, PORT = '4000', PSP_API_KEYS, PSP_KEYS, PSP_SEARCH, PSP_WEBHOOK_URL } = variables;
  if (!DATABASE_URL) throw new Error('Set DATABASE_URL, such as postgres://user@localhost:5432/psp.');
  return {
    databaseUrl: DATABASE_URL,
    port: wholeNumber('PORT', PORT, 'a port', 65_535),
    apiKeys: PSP_API_KEYS ? PSP_API_KEYS.split(',') : DEFAULTS.apiKeys,
    keys: oneOf(KEYS, 'PSP_KEYS', PSP_KEYS || DEFAULTS.keys),
    search: oneOf(SEARCH, 'PSP_SEARCH', PSP_SEARCH || DEFAULTS.search),
    ...(PSP_WEBHOOK_URL && { webhookUrl: webUrl('PSP_WEBHOOK_URL', PSP_WEBHOOK_URL) }),
    webhookSecret: variables.PSP_WEBHOOK_SECRET || DEFAULTS.webhookSecret,
    webhookRetryMs: wholeNumber(
      'PSP_WEBHOOK_RETRY_MS',
      variables.PSP_WEBHOOK_RETRY_MS || String(DEFAULTS.webhookRetryMs),
      'a number of milliseconds',
      86_400_000,
    ),
  };
}

function wholeNumber(name: string, text: string, what: string, max: number): number {
  if (!/^\d+$/.test(text) || Number(text) > max) throw new Error(`${name}=${text} is not ${what}.`);
  return Number(text);
}

function oneOf<Choice extends string>(choices: readonly Choice[], name: string, text: string): Choice {
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) throw new Error(`${name}=${text} is none of ${choices.join(', ')}.`);
  return choice;
}

function webUrl(name: string, text: string): string {
  if (!URL.canParse(text) || !/^https?:/i.test(text)) throw new Error(`${name}=${text} is not an http(s) URL.`);
  return text;
}
