import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from './environment.js';
import { DEFAULTS } from './settings/app-options.js';

const DATABASE_URL = 'postgres://localhost/payments';

describe('readEnvironment', () => {
  it('listens on 3000, and looks for the provider on 4000, unless told otherwise', () => {
    const { providerUrl, providerApiKey, providerKeySecret, webhookSecret } = DEFAULTS;
    const secrets = { providerApiKey, providerKeySecret, webhookSecret };
    expect(providerUrl).toBe('http://localhost:4000');
    expect(readEnvironment({ DATABASE_URL })).toEqual({
      databaseUrl: DATABASE_URL,
      port: 3000,
      providerUrl,
      ...secrets,
    });
    expect(
      readEnvironment({
        DATABASE_URL,
        PORT: '0',
        PSP_URL: 'https://psp.example/v1/',
        PSP_API_KEY: 'sk',
        PSP_WEBHOOK_SECRET: 'whsec_c2VjcmV0',
        PROVIDER_KEY_SECRET: 'sixteen letters!',
      }),
    ).toEqual({
      databaseUrl: DATABASE_URL,
      port: 0,
      providerUrl: 'https://psp.example/v1',
      providerApiKey: 'sk',
      providerKeySecret: 'sixteen letters!',
      webhookSecret: 'whsec_c2VjcmV0',
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
});
