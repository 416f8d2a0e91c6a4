import { KEY, OTHER_KEY } from '../request.js';
import type { Situation } from '../situation.js';

export const missingOrBadKey: Situation = {
  page: 'missing-or-bad-key',
  promise: 'refuses a request whose key cannot be told before anything runs',
  ends: { runs: 0, payments: 0, records: [] },
  play: async (stage) => {
    const app = await stage.start({ idempotency: { docsUrl: 'https://docs.example.com/idempotency' } });
    await stage.exchange('missing', app, { key: null });
    await stage.exchange('empty', app, { key: null, lines: ['Idempotency-Key:'] });
    await stage.exchange('twice', app, { key: KEY, lines: [`Idempotency-Key: ${OTHER_KEY}`] });
  },
};
