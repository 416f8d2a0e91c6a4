import type { Situation } from '../situation.js';

export const duplicateInFlight: Situation = {
  page: 'duplicate-in-flight',
  promise: 'turns the duplicate away while the handler runs, and replays to it later',
  ends: { runs: 1, payments: 1, records: ['completed'] },
  play: async (stage) => {
    const app = await stage.start();
    const first = await stage.begin('first', app, 'written');
    await stage.witness.extendLeases();
    await stage.exchange('duplicate', app);
    await first.finish();
    await stage.exchange('retry', app);
  },
};
