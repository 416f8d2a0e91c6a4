import { DEFAULTS } from './settings/app-options.js';

export const USAGE = `Usage: node apps/payments/dist/main.js

A payments API with a double-entry ledger, retry-safe.

  DATABASE_URL         its PostgreSQL database; its schema is brought up to date
  PORT                 where it listens; default 3000
  METRICS_PORT         where Prometheus finds /metrics; without it they are not served
  PSP_URL              where the card provider listens; default ${DEFAULTS.providerUrl}
  PSP_API_KEY          default ${DEFAULTS.providerApiKey}
  PSP_WEBHOOK_SECRET   what the provider signs its events with, whsec_ and base64; default the demo's
  PROVIDER_KEY_SECRET  what the keys of calls to the provider are derived with; default the demo's
  RABBITMQ_URL         where RabbitMQ is, such as amqp://localhost; without it none is used
  NATS_URL             where NATS with JetStream is, such as nats://localhost; without it none is used
  BROKER_PREFIX        what the names of queues and streams begin with; default ${DEFAULTS.brokerPrefix}
  MESSAGE_TRIES        how often the work of a message is begun before it is dead-lettered; default ${DEFAULTS.messageTries}
`;
