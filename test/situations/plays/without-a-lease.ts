import { expect } from '@jest/globals';

import { eventually } from '../../wire/gate.js';
import { OTHER_KEY, PAYMENT } from '../request.js';
import type { Situation } from '../situation.js';

export const withoutALease: Situation = {
  page: 'without-a-lease',
  promise: 'turns duplicates away while the work runs, and has the retry run as soon as its worker is dead',
  ends: { runs: 3, payments: 2, records: ['completed', 'completed'] },
  killsProcess: true,
  play: async (stage) => {
    const idempotency = { claim: 'transaction' } as const;
    const app = await stage.start({ idempotency });
    const first = await stage.begin('first', app, 'written');
    await stage.exchange('duplicate', app);
    await stage.exchange('another-in-flight', app, { body: { ...PAYMENT, amount: 9900 } });
    await first.finish();
    await stage.exchange('another-afterwards', app, { body: { ...PAYMENT, amount: 9900 } });

    const doomed = await stage.startDoomed('before COMMIT', { idempotency });
    const crashed = await stage.call('crashed', doomed, { key: OTHER_KEY });
    await Promise.all([crashed.silence(), doomed.death]);
    await eventually('PostgreSQL has noticed', () => stage.witness.isNobodyAtWork());
    expect(await stage.witness.ending()).toEqual({ runs: 2, payments: 1, records: ['completed'] });
    await stage.exchange('retry', app, { key: OTHER_KEY });
  },
};
