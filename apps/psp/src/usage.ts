import { DEFAULTS } from './settings/app-options.js';

export const USAGE = `Usage: node apps/psp/dist/main.js

A card payment provider that accepts idempotency keys, keeps its own book, and fails on command.

  DATABASE_URL          its own PostgreSQL database; its schema is brought up to date
  PORT                  where it listens; default 4000
  PSP_API_KEYS          a merchant each, separated by commas; default ${DEFAULTS.apiKeys.join(',')}
  PSP_KEYS              kept, or ignored: every call does its work anew; default ${DEFAULTS.keys}
  PSP_SEARCH            on, or off: nothing is found by its reference; default ${DEFAULTS.search}
  PSP_WEBHOOK_URL       where events are delivered; default nowhere
  PSP_WEBHOOK_SECRET    what they are signed with, whsec_ and base64; default the demo's
  PSP_WEBHOOK_RETRY_MS  the first wait after a failed delivery, doubled each time; default ${DEFAULTS.webhookRetryMs}

Failures are commanded at /control, from this machine only.
`;
