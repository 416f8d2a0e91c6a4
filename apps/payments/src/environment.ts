import { type AppOptions, DEFAULTS } from './settings/app-options.js';

export interface Environment extends Omit<Required<AppOptions>, 'providerDeadlineMs'> {
  readonly port: number;
}

/** Throws with a line fit to be shown when a variable is missing or makes no sense. */
export function readEnvironment(variables: NodeJS.ProcessEnv): Environment {
  const { DATABASE_URL, PORT = '3000', PSP_URL, PSP_API_KEY, PSP_WEBHOOK_SECRET, PROVIDER_KEY_SECRET } = variables;
  if (!DATABASE_URL) throw new Error('Set DATABASE_URL, such as postgres://user@localhost:5432/payments.');
  if (!/^\d{1,5}$/.test(PORT) || Number(PORT) > 65_535) throw new Error(`PORT=${PORT} is not a port.`);
  return {
    databaseUrl: DATABASE_URL,
    port: Number(PORT),
    providerUrl: webUrl('PSP_URL', PSP_URL || DEFAULTS.providerUrl),
    providerApiKey: PSP_API_KEY || DEFAULTS.providerApiKey,
    providerKeySecret: PROVIDER_KEY_SECRET || DEFAULTS.providerKeySecret,
    webhookSecret: PSP_WEBHOOK_SECRET || DEFAULTS.webhookSecret,
  };
}

function webUrl(name: string, text: string): string {
  if (!URL.canParse(text) || !/^https?:/i.test(text)) throw new Error(`${name}=${text} is not an http(s) URL.`);
  return text.replace(/\/+$/, '');
}
