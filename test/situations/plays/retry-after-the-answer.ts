import type { Situation } from '../situation.js';

export const retryAfterTheAnswer: Situation = {
  page: 'retry-after-the-answer',
  promise: 'gives the recorded answer back, and does not run the handler',
  ends: { runs: 1, payments: 1, records: ['completed'] },
  play: async (stage) => {
    const app = await stage.start();
    await stage.exchange('first', app);
    await stage.exchange('retry', app);
  },
};
