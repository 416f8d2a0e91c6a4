import { randomUUID } from 'node:crypto';
import { TRIES } from './charges/charge-operations.js';
import { acme, demoMerchants } from './database/demo-merchants.js';
import { type DecidedOptions, DEFAULTS } from './settings/app-options.js';

/**
 * What the demo prints once it listens: the API keys, two lines to paste twice, each with a key of its own, how to see
 * the card provider fail, and which brokers it listens to.
 */
export const greeting = (url: string, { providerUrl, ...brokers }: GreetingOptions): string => `
Payments are at ${url}, their card provider at ${providerUrl}

${demoMerchants.map(({ name, apiKey }) => `  ${name.padEnd(8)}Authorization: Bearer ${apiKey}`).join('\n')}

Paste this line twice: one payment, and its replay.

${post(`${url}/payments`, randomUUID(), PAYMENT)}

And this: one charge of a card, at the provider too.

${post(`${url}/charges`, randomUUID(), CHARGE)}

Now have the provider take the money and tell nobody. Paste both lines, and the second one again: first nobody knows what
happened, then there is one charge.

${faultLine(providerUrl)}
${post(`${url}/charges`, randomUUID(), CHARGE)}

What the provider has really done: curl ${providerUrl}/book -H 'Authorization: Bearer ${DEFAULTS.providerApiKey}'

${brokersLine(brokers)}
`;

type GreetingOptions = Pick<DecidedOptions, 'providerUrl' | 'rabbitMqUrl' | 'natsUrl'>;

const PAYMENT = { amount: 4999, currency: 'usd', source: 'acct_alice', destination: 'acct_shop' };
const CHARGE = { amount: 4999, currency: 'usd', card: 'tok_visa' };

const JSON_HEADER = `-H 'Content-Type: application/json'`;

const post = (url: string, key: string, body: object): string =>
  `curl -i ${url} -H 'Authorization: Bearer ${acme.apiKey}' -H 'Idempotency-Key: ${key}' ${JSON_HEADER} -d '${JSON.stringify(body)}'`;

/** As often as one attempt tries. */
const faultLine = (providerUrl: string): string =>
  `curl ${providerUrl}/control/faults ${JSON_HEADER} -d '{"kind":"cut_after","times":${TRIES}}'`;

function brokersLine({ rabbitMqUrl, natsUrl }: Omit<GreetingOptions, 'providerUrl'>): string {
  const brokers = [...(rabbitMqUrl ? ['RabbitMQ'] : []), ...(natsUrl ? ['NATS'] : [])];
  return brokers.length > 0
    ? `Settlements are taken from ${brokers.join(' and ')}. To send some: npm run settlements --workspace apps/payments -- --help`
    : 'No settlements are taken: set RABBITMQ_URL, NATS_URL or both to have them consumed.';
}
