import { type DecidedOptions, DEFAULTS } from './settings/app-options.js';

export interface Environment extends Omit<DecidedOptions, 'providerDeadlineMs'> {
  readonly port: number;
  /** Where Prometheus finds the metrics; nowhere without it. */
  readonly metricsPort?: number;
}

/** Throws with a line fit to be shown when a variable is missing or makes no sense. */
export function readEnvironment(variables: NodeJS.ProcessEnv): Environment {
  const {
    DATABASE_URL,
    PORT = '3000',
    METRICS_PORT,
    PSP_URL,
    PSP_API_KEY,
    PSP_WEBHOOK_SECRET,
    PROVIDER_KEY_SECRET,
  } = variables;
  if (!DATABASE_URL) throw new Error('Set DATABASE_URL, such as postgres://user@localhost:5432/payments.');
  return {
    databaseUrl: DATABASE_URL,
    port: portOf('PORT', PORT),
    ...(METRICS_PORT && { metricsPort: portOf('METRICS_PORT', METRICS_PORT) }),
    providerUrl: webUrl('PSP_URL', PSP_URL || DEFAULTS.providerUrl),
    providerApiKey: PSP_API_KEY || DEFAULTS.providerApiKey,
    providerKeySecret: PROVIDER_KEY_SECRET || DEFAULTS.providerKeySecret,
    webhookSecret: PSP_WEBHOOK_SECRET || DEFAULTS.webhookSecret,
    messageTries: tries(variables['MESSAGE_TRIES'] || String(DEFAULTS.messageTries)),
    ...readBrokers(variables),
  };
}

function portOf(name: string, text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new Error(`${name}=${text} is not a port.`);
  return Number(text);
}

/** Where the brokers are, and what everything of ours is called there. */
export function readBrokers({
  RABBITMQ_URL,
  NATS_URL,
  BROKER_PREFIX,
}: NodeJS.ProcessEnv): Pick<Environment, 'rabbitMqUrl' | 'natsUrl' | 'brokerPrefix'> {
  return {
    ...(RABBITMQ_URL && { rabbitMqUrl: brokerUrl('RABBITMQ_URL', RABBITMQ_URL, /^amqps?:$/) }),
    ...(NATS_URL && { natsUrl: brokerUrl('NATS_URL', NATS_URL, /^(nats|tls):$/) }),
    brokerPrefix: prefix(BROKER_PREFIX || DEFAULTS.brokerPrefix),
  };
}

/** The address of an HTTP API, without a slash at its end. */
export function webUrl(name: string, text: string): string {
  if (!URL.canParse(text) || !/^https?:/i.test(text)) throw new Error(`${name}=${text} is not an http(s) URL.`);
  return text.replace(/\/+$/, '');
}

/** What is wrong is not shown: such a URL may hold a password. */
function brokerUrl(name: string, text: string, scheme: RegExp): string {
  const isBroker = URL.canParse(text) && scheme.test(new URL(text).protocol) && new URL(text).host !== '';
  if (!isBroker) throw new Error(`${name} is no URL of such a broker.`);
  return text;
}

/** Fit for the name of a stream. */
function prefix(text: string): string {
  if (!/^[\w-]{1,64}$/.test(text)) throw new Error(`BROKER_PREFIX=${text} is not up to 64 letters, digits, - and _.`);
  return text;
}

function tries(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new Error(`MESSAGE_TRIES=${text} is not a number from 1 to 9999.`);
  return Number(text);
}
