import { expect } from '@jest/globals';

import type { Situation } from '../situation.js';

export const crashBeforeCommit: Situation = {
  page: 'crash-before-commit',
  promise: 'leaves nothing of a payment whose process was killed, and has the retry run once the lease is over',
  ends: { runs: 2, payments: 1, records: ['completed'] },
  killsProcess: true,
  play: async (stage) => {
    const [doomed, app] = await Promise.all([stage.startDoomed('before COMMIT'), stage.start()]);
    const crashed = await stage.call('crashed', doomed);
    await Promise.all([crashed.silence(), doomed.death]);
    expect(await stage.witness.payments()).toBe(0);
    await stage.witness.extendLeases();
    await stage.exchange('early-retry', app);
    await stage.witness.lapseLeases();
    await stage.exchange('retry', app);
  },
};
