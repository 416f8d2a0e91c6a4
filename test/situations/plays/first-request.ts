import type { Situation } from '../situation.js';

export const firstRequest: Situation = {
  page: 'first-request',
  promise: 'commits the payment together with its recording, and then answers',
  ends: { runs: 1, payments: 1, records: ['completed'] },
  play: async (stage) => {
    const app = await stage.start();
    await stage.exchange('first', app);
  },
};
