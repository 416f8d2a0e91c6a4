import { OTHER_KEY } from '../request.js';
import type { Situation } from '../situation.js';

export const lostClaim: Situation = {
  page: 'lost-claim',
  promise: 'lets only one of two workers commit, and tells the other client what became of it',
  ends: { runs: 4, payments: 2, records: ['completed', 'completed'] },
  play: async (stage) => {
    const [paused, other] = [await stage.start(), await stage.start()];

    const slow = await stage.begin('slow', paused, 'entered');
    await stage.witness.lapseLeases();
    await stage.exchange('retry', other);
    await slow.finish();

    const key = OTHER_KEY;
    const slowToo = await stage.begin('slow-meanwhile', paused, 'entered', { key });
    await stage.witness.lapseLeases();
    const winner = await stage.begin('winner', other, 'entered', { key });
    await stage.witness.extendLeases();
    await slowToo.finish();
    await winner.finish();
  },
};
