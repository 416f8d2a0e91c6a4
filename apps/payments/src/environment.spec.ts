import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from './environment.js';
import { DEFAULTS } from './settings/app-options.js';

const DATABASE_URL = 'postgres://localhost/payments';

describe('readEnvironment', () => {
  it('listens on 3000, and looks for the provider on 4000, unless told otherwise', () => {
    const { providerUrl, providerApiKey, providerKeySecret, webhookSecret, brokerPrefix, messageTries } = DEFAULTS;
    const secrets = { providerApiKey, providerKeySecret, webhookSecret };
    expect(providerUrl).toBe('http://localhost:4000');
    expect(readEnvironment({ DATABASE_URL })).toEqual({
      databaseUrl: DATABASE_URL,
      port: 3000,
      providerUrl,
      ...secrets,
      brokerPrefix,
      messageTries,
    });
    expect(
      readEnvironment({
        DATABASE_URL,
        PORT: '0',
        METRICS_PORT: '9464',
        PSP_URL: 'https://psp.example/v1/',
        PSP_API_KEY: 'sk',
        PSP_WEBHOOK_SECRET: 'whsec_c2VjcmV0',
        PROVIDER_KEY_SECRET: 'sixteen letters!',
        RABBITMQ_URL: 'amqp://localhost',
        NATS_URL: 'nats://localhost:4222',
        BROKER_PREFIX: 'payments-2',
        MESSAGE_TRIES: '3',
      }),
    ).toEqual({
      databaseUrl: DATABASE_URL,
      port: 0,
      metricsPort: 9464,
      providerUrl: 'https://psp.example/v1',
      providerApiKey: 'sk',
      providerKeySecret: 'sixteen letters!',
      webhookSecret: 'whsec_c2VjcmV0',
      rabbitMqUrl: 'amqp://localhost',
      natsUrl: 'nats://localhost:4222',
      brokerPrefix: 'payments-2',
      messageTries: 3,
    });
  });

  it('refuses to start without a database', () => {
    expect(() => readEnvironment({})).toThrow('Set DATABASE_URL');
  });

  it.each(['', 'http', '-1', '30.5', '65536'])('refuses the port %j', (PORT) => {
    expect(() => readEnvironment({ DATABASE_URL, PORT })).toThrow('is not a port');
  });

  it.each(['localhost:4000', 'ftp://psp.example'])('refuses the provider at %j', (PSP_URL) => {
    expect(() => readEnvironment({ DATABASE_URL, PSP_URL })).toThrow(`PSP_URL=${PSP_URL} is not an http(s) URL.`);
  });

  it.each([
    ['RABBITMQ_URL', 'http://user:secret@localhost'],
    ['RABBITMQ_URL', 'localhost'],
    ['NATS_URL', 'localhost:4222'],
  ])('refuses the broker at %s, without showing what may be a password', (name, url) => {
    expect(() => readEnvironment({ DATABASE_URL, [name]: url })).toThrow(
      new Error(`${name} is no URL of such a broker.`),
    );
  });

  it.each([
    ['BROKER_PREFIX', 'a.b'],
    ['MESSAGE_TRIES', '0'],
    ['MESSAGE_TRIES', 'often'],
    ['METRICS_PORT', 'on'],
  ])('refuses %s=%s', (name, text) => {
    expect(() => readEnvironment({ DATABASE_URL, [name]: text })).toThrow(`${name}=${text} is not`);
  });
});
