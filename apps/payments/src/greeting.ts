import { randomUUID } from 'node:crypto';
import { TRIES } from './charges/charge-operations.js';
import { acme, demoMerchants } from './database/demo-merchants.js';
import { DEFAULTS } from './settings/app-options.js';

/**
 * What the demo prints once it listens: the API keys, two lines to paste twice, each with a key of its own, and how to see
 * the card provider fail.
 */
export const greeting = (url: string, providerUrl: string): string => `
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
`;

const PAYMENT = { amount: 4999, currency: 'usd', source: 'acct_alice', destination: 'acct_shop' };
const CHARGE = { amount: 4999, currency: 'usd', card: 'tok_visa' };

const JSON_HEADER = `-H 'Content-Type: application/json'`;

const post = (url: string, key: string, body: object): string =>
  `curl -i ${url} -H 'Authorization: Bearer ${acme.apiKey}' -H 'Idempotency-Key: ${key}' ${JSON_HEADER} -d '${JSON.stringify(body)}'`;

/** As often as one attempt tries. */
const faultLine = (providerUrl: string): string =>
  `curl ${providerUrl}/control/faults ${JSON_HEADER} -d '{"kind":"cut_after","times":${TRIES}}'`;
