import { gate } from '../../wire/gate.js';
import type { App } from '../payments/app.js';
import { KEY, OTHER_KEY } from '../request.js';
import type { Situation } from '../situation.js';
import type { Begun, Stage } from '../stage.js';

export const somebodyElseAnswers: Situation = {
  page: 'somebody-else-answers',
  promise: 'lets the work finish and be committed behind a timeout that answered for it',
  ends: { runs: 2, payments: 2, records: ['completed', 'completed'] },
  play: async (stage) => {
    const app = await stage.start();
    const late = await timeOut(stage, 'timed-out', app, KEY);
    await stage.witness.extendLeases();
    await stage.exchange('meanwhile', app);
    late.goOn();
    await stage.witness.untilRecorded();
    await stage.exchange('retry', app);

    const keeping = await stage.start({ idempotency: { lateAnswer: 'value' } });
    const kept = await timeOut(stage, 'timed-out-value', keeping, OTHER_KEY);
    kept.goOn();
    await stage.witness.untilRecorded();
    await stage.exchange('retry-value', keeping, { key: OTHER_KEY });
  },
};

/** Has the application's timeout answer while the handler runs. */
async function timeOut(stage: Stage, name: string, app: App, key: string): Promise<Begun> {
  const timeout = gate();
  app.cues.patienceEnds = timeout.passed;
  const begun = await stage.begin(name, app, 'written', { key });
  timeout.open();
  await begun.answer;
  return begun;
}
