import { callerOf } from '../payments/caller.js';
import type { Situation } from '../situation.js';

export const rightsCheckedAgain: Situation = {
  page: 'rights-checked-again',
  promise: 'gives a recording to nobody who may not have it',
  ends: { runs: 1, payments: 1, records: ['completed'] },
  play: async (stage) => {
    const app = await stage.start({
      idempotency: { authorizeReplay: (context) => callerOf(context)?.role === 'owner' },
    });
    await stage.exchange('first', app);
    await stage.exchange('clerk', app, { apiKey: 'sk_acme_clerk' });
    app.guard.revoke('sk_acme_owner');
    await stage.exchange('revoked', app);
  },
};
