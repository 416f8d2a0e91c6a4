import { PAYMENT } from '../request.js';
import type { Situation } from '../situation.js';

export const failedValidation: Situation = {
  page: 'failed-validation',
  promise: 'keeps the key free for the corrected body',
  ends: { runs: 1, payments: 1, records: ['completed'] },
  play: async (stage) => {
    const app = await stage.start();
    await stage.exchange('invalid', app, { body: { ...PAYMENT, amount: -4200 } });
    await stage.exchange('corrected', app);
  },
};
