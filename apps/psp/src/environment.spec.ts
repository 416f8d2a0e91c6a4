import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from './environment.js';
import { DEFAULTS } from './settings/app-options.js';

const DATABASE_URL = 'postgres://localhost/psp';

describe('readEnvironment', () => {
  it('keeps keys, offers a search and listens on 4000 unless told otherwise', () => {
    const defaults = { ...DEFAULTS, databaseUrl: DATABASE_URL, port: 4000 };
    expect(readEnvironment({ DATABASE_URL })).toEqual(defaults);
    expect(readEnvironment({ DATABASE_URL, PSP_KEYS: '', PSP_WEBHOOK_URL: '' })).toEqual(defaults);
  });

  it('takes every variable', () => {
    const variables = {
      DATABASE_URL,
      PORT: '0',
      PSP_API_KEYS: 'sk_test_a,sk_test_b',
      PSP_KEYS: 'ignored',
      PSP_SEARCH: 'off',
      PSP_WEBHOOK_URL: 'http://localhost:3000/webhooks',
      PSP_WEBHOOK_SECRET: 'whsec_c2VjcmV0',
      PSP_WEBHOOK_RETRY_MS: '5',
    };
    expect(readEnvironment(variables)).toEqual({
      databaseUrl: DATABASE_URL,
      port: 0,
      apiKeys: ['sk_test_a', 'sk_test_b'],
      keys: 'ignored',
      search: 'off',
      webhookUrl: 'http://localhost:3000/webhooks',
      webhookSecret: 'whsec_c2VjcmV0',
      webhookRetryMs: 5,
    });
  });

  it.each([
    [{ DATABASE_URL: '' }, 'Set DATABASE_URL'],
    [{ PORT: '' }, 'is not a port'],
    [{ PORT: '65536' }, 'is not a port'],
    [{ PSP_KEYS: 'maybe' }, 'PSP_KEYS=maybe is none of kept, ignored.'],
    [{ PSP_SEARCH: 'yes' }, 'PSP_SEARCH=yes is none of on, off.'],
    [{ PSP_WEBHOOK_URL: 'localhost:3000' }, 'is not an http(s) URL'],
    [{ PSP_WEBHOOK_RETRY_MS: 'soon' }, 'is not a number of milliseconds'],
  ])('refuses %j', (wrong, message) => {
    expect(() => readEnvironment({ DATABASE_URL, ...wrong })).toThrow(message);
  });
});
