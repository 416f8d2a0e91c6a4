import { OTHER_KEY } from '../request.js';
import type { Situation } from '../situation.js';

export const shutdown: Situation = {
  page: 'shutdown',
  promise: 'finishes, records and answers what runs, and takes nothing new',
  ends: { runs: 2, payments: 2, records: ['completed', 'completed'] },
  play: async (stage) => {
    const app = await stage.start();
    const underWay = await stage.begin('under-way', app, 'written');
    const closed = app.close();
    await app.cues.closing;
    await stage.exchange('too-late', app, { key: OTHER_KEY });
    await underWay.finish();
    await closed;
    await stage.exchange('retry', await stage.start(), { key: OTHER_KEY });
  },
};
