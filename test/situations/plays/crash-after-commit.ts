import { expect } from '@jest/globals';

import type { Situation } from '../situation.js';

export const crashAfterCommit: Situation = {
  page: 'crash-after-commit',
  promise: 'has paid when the process was killed before its answer, and gives the retry the recording',
  ends: { runs: 1, payments: 1, records: ['completed'] },
  killsProcess: true,
  play: async (stage) => {
    const [doomed, app] = await Promise.all([stage.startDoomed('after COMMIT'), stage.start()]);
    const crashed = await stage.call('crashed', doomed);
    await Promise.all([crashed.silence(), doomed.death]);
    expect(await stage.witness.payments()).toBe(1);
    await stage.exchange('retry', app);
  },
};
