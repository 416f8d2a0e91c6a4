import { PAYMENT } from '../request.js';
import type { Situation } from '../situation.js';

export const anotherRequestUnderTheKey: Situation = {
  page: 'another-request-under-the-key',
  promise: 'refuses another request under a key that is in use, whether the first is running or done',
  ends: { runs: 1, payments: 1, records: ['completed'] },
  play: async (stage) => {
    const another = { body: { ...PAYMENT, amount: 9900 } };
    const app = await stage.start();
    const first = await stage.begin('first', app, 'written');
    await stage.exchange('another-in-flight', app, another);
    await first.finish();
    await stage.exchange('another-afterwards', app, another);
  },
};
