import { DatabaseProxy } from '../../faults/database-proxy.js';
import type { Situation } from '../situation.js';

export const storeAway: Situation = {
  page: 'store-away',
  promise: 'refuses to run anything that could not be recorded, and runs it once the store is back',
  ends: { runs: 1, payments: 1, records: ['completed'] },
  play: async (stage) => {
    const proxy = await DatabaseProxy.to(stage.url);
    stage.finally(() => proxy.close());
    const app = await stage.start({ url: proxy.url });
    await proxy.refuse();
    await stage.exchange('away', app);
    await proxy.heal();
    await stage.exchange('retry', app);
  },
};
