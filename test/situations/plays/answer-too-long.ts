import type { Situation } from '../situation.js';

/** A document in base64, as it would stand in an answer. */
const RECEIPT = Buffer.alloc(900_000, '%PDF-1.7 ').toString('base64');

export const answerTooLong: Situation = {
  page: 'answer-too-long',
  promise: 'sends a long answer in full, and names its resource to the retry',
  ends: { runs: 1, payments: 1, records: ['completed'] },
  play: async (stage) => {
    const app = await stage.start();
    app.cues.present = (payment) => ({ ...payment, receipt: RECEIPT });
    await stage.exchange('first', app);
    await stage.exchange('retry', app);
  },
};
