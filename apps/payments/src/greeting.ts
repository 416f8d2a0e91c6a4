import { randomUUID } from 'node:crypto';
import { acme, demoMerchants } from './database/demo-merchants.js';

/** What the demo prints once it listens: the API keys, and a line to paste twice, with a key of its own. */
export const greeting = (url: string): string => `
Payments are at ${url}

${demoMerchants.map(({ name, apiKey }) => `  ${name.padEnd(8)}Authorization: Bearer ${apiKey}`).join('\n')}

Paste this line twice: one payment, and its replay.

curl -i ${url}/payments -H 'Authorization: Bearer ${acme.apiKey}' -H 'Idempotency-Key: ${randomUUID()}' -H 'Content-Type: application/json' -d '{"amount":4999,"currency":"usd","source":"acct_alice","destination":"acct_shop"}'
`;
