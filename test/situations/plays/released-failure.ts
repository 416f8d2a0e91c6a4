import type { Situation } from '../situation.js';

export const releasedFailure: Situation = {
  page: 'released-failure',
  promise: 'undoes what a failed handler wrote, and lets the retry run at once',
  ends: { runs: 2, payments: 1, records: ['completed'] },
  play: async (stage) => {
    const app = await stage.start();
    app.cues.at('debited', () => {
      throw new Error('The currency service does not answer.');
    });
    await stage.exchange('failed', app);
    await stage.exchange('retry', app);
  },
};
