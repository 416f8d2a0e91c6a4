import { DatabaseProxy } from '../faults/database-proxy.js';
import { eventually } from '../wire/gate.js';
import type { Fate, Handler } from './fates.js';
import type { Answer, Sending } from './request.js';
import type { Ending } from './situation.js';
import type { Begun, Stage } from './stage.js';

/** A stage from which a request can be seen to wait. */
export interface WaitingStage extends Stage {
  /** The request that the others wait for. */
  readonly first: Begun;
  /** What all of them ask. */
  readonly sending: Sending;
  /** Has so many duplicates come, and resolves when each of them has found the operation in progress. */
  wait(count: number): Promise<Promise<Answer>[]>;
  /** Resolves when somebody has looked again so many times. */
  look(times: number): Promise<void>;
}

export interface Waiting {
  readonly ends: Ending;
  /** What the first does when it is let go. */
  readonly handler?: Handler;
  readonly sending?: Sending;
}

/** A request is inside, and duplicates wait for it; claims and looks are counted on their way to the database. */
export const whileWaiting = (
  { ends, handler, sending = { path: '/patient' } }: Waiting,
  act: (stage: WaitingStage) => Promise<void>,
): Fate => ({
  ends,
  play: async ({ url, run, script, start }) => {
    if (handler) script.handler = handler;
    const proxy = await DatabaseProxy.to(url);
    let statements = 0;
    // Whatever asks for the operation names its key.
    proxy.intercept = (chunk) => {
      if (chunk.includes(run)) statements++;
      return 'pass';
    };
    const look = async (times: number): Promise<void> => {
      const enough = statements + times;
      await eventually('somebody looks again', () => statements >= enough);
    };
    try {
      const stage = await start({ url: proxy.url, poolSize: 2 });
      const first = await stage.begin(sending);
      const wait: WaitingStage['wait'] = async (count) => {
        // A claim, and a look at what stands in its way.
        const told = look(2 * count);
        const answers = Array.from({ length: count }, () => stage.send(sending));
        for (const answer of answers) answer.catch(() => undefined);
        await told;
        return answers;
      };
      await act({ ...stage, first, sending, look, wait });
    } finally {
      await proxy.close();
    }
  },
});
