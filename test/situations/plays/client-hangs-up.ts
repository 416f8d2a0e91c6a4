import { eventually } from '../../wire/gate.js';
import type { Situation } from '../situation.js';

export const clientHangsUp: Situation = {
  page: 'client-hangs-up',
  promise: 'finishes the work of a client that left, and keeps the answer for it',
  ends: { runs: 1, payments: 1, records: ['completed'] },
  play: async (stage) => {
    const app = await stage.start();
    const handler = app.cues.standAt('written');
    stage.finally(handler.goOn);
    const leaving = await stage.call('hung-up', app);
    await handler.reached;
    leaving.hangUp();
    await leaving.silence();
    await eventually('the server notices that the client left', () => app.closings() > 0);
    handler.goOn();
    await stage.witness.untilRecorded();
    await stage.exchange('retry', app);
  },
};
