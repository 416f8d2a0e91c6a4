import { OTHER_KEY, PAYMENT } from '../request.js';
import type { Situation } from '../situation.js';

export const recordedRefusal: Situation = {
  page: 'recorded-refusal',
  promise: 'replays a refusal, also once it would be granted; a new key asks anew',
  ends: { runs: 2, payments: 1, records: ['completed', 'completed'] },
  play: async (stage) => {
    const app = await stage.start();
    const body = { ...PAYMENT, amount: 15_000 };
    await stage.exchange('refused', app, { body });
    await stage.witness.deposit('acct_alice', 10_000);
    await stage.exchange('retry', app, { body });
    await stage.exchange('new-key', app, { body, key: OTHER_KEY });
  },
};
