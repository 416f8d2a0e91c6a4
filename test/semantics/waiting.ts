import { BadRequestException } from '@nestjs/common';
import { expect } from '@jest/globals';
import { tap } from 'rxjs';
import { DatabaseProxy } from '../faults/database-proxy.js';
import { poolOf } from '../module/work-app.js';
import { eventually } from '../wire/gate.js';
import { expectAnswer, expectInProgress, expectPaid, expectProblem, expectReplay } from './expectations.js';
import type { Answer, Sending } from './request.js';
import { PAID_BY_RETRY, PAID_ONCE, REFUSAL_KEPT, type Situation } from './situation.js';
import type { Begun, Stage } from './stage.js';

const PATIENT: Sending = { path: '/patient' };

/** A stage from which a request can be seen to wait. */
interface WaitingStage extends Stage {
  /** The request that the others wait for. */
  readonly first: Begun;
  /** Has so many duplicates come, and resolves when each of them has found the operation in progress. */
  wait(count: number, sending?: Sending): Promise<Promise<Answer>[]>;
  /** Resolves when somebody has looked again so many times. */
  look(times: number): Promise<void>;
}

/** Claims and looks are counted on their way to the database, where each names the key. */
const whileWaiting = (
  ends: Situation['ends'],
  act: (stage: WaitingStage) => Promise<void>,
  script: Stage['script']['handler'] | null = null,
): Omit<Situation, 'when'> => ({
  ends,
  play: async ({ url, run, script: of, start }) => {
    if (script) of.handler = script;
    const proxy = await DatabaseProxy.to(url);
    let statements = 0;
    proxy.intercept = (chunk) => {
      if (chunk.includes(run)) statements++;
      return 'pass';
    };
    const look = (times: number): Promise<void> => {
      const enough = statements + times;
      return eventually('somebody looks again', () => statements >= enough).then(() => undefined);
    };
    try {
      const stage = await start({ url: proxy.url, poolSize: 2 });
      const first = await stage.begin(PATIENT);
      const wait: WaitingStage['wait'] = async (count, sending = PATIENT) => {
        // One claim, and one look at what stands in its way.
        const told = look(2 * count);
        const answers = Array.from({ length: count }, () => stage.send(sending));
        for (const answer of answers) answer.catch(() => undefined);
        await told;
        return answers;
      };
      await act({ ...stage, first, look, wait });
    } finally {
      await proxy.close();
    }
  },
});

export const waiting: readonly Situation[] = [
  {
    when: 'a duplicate waits, and the first comes to its end',
    ...whileWaiting(PAID_ONCE, async ({ first, wait, look }) => {
      const [duplicate] = await wait(1);
      await look(2);
      const answer = await first.finish();
      expectPaid(answer);
      expectReplay(await duplicate!, answer);
    }),
  },
  {
    when: 'a duplicate waits, and the first is refused',
    ...whileWaiting(
      REFUSAL_KEPT,
      async ({ first, wait }) => {
        const [duplicate] = await wait(1);
        const answer = await first.finish();
        const body = { message: 'Bad Request', statusCode: 400 };
        expectAnswer(answer, { line: '400 Bad Request', body });
        expectReplay(await duplicate!, answer);
      },
      () => {
        throw new BadRequestException();
      },
    ),
  },
  {
    when: 'a duplicate waits, and the first fails',
    ...whileWaiting(
      PAID_BY_RETRY,
      async ({ first, wait }) => {
        const [duplicate] = await wait(1);
        const body = { statusCode: 500, message: 'Internal server error' };
        expectAnswer(await first.finish(), { line: '500 Internal Server Error', body });
        expectPaid(await duplicate!, 2);
      },
      ({ entry, paid }) => {
        if (entry === 1) throw new Error('The first fails.');
        return paid;
      },
    ),
  },
  {
    when: 'a duplicate waits, and the lease of the first runs out',
    ...whileWaiting(PAID_BY_RETRY, async ({ first, wait, lapse }) => {
      const [duplicate] = await wait(1);
      await lapse();
      const answer = await duplicate!;
      expectPaid(answer, 2);
      expectReplay(await first.finish(), answer);
    }),
  },
  {
    when: 'a duplicate waits, and its patience ends before the lease',
    ends: PAID_ONCE,
    play: async (stage) => {
      const first = await stage.begin({ path: '/impatient' });
      await expectInProgress(stage, () => stage.send({ path: '/impatient' }));
      expectPaid(await first.finish());
    },
  },
  {
    when: 'many duplicates wait',
    ...whileWaiting(
      { entries: 2, payments: 2, records: ['completed', 'completed'] },
      async ({ run, app, first, wait, send }) => {
        const duplicates = await wait(8);
        // The first holds one of the two connections there are.
        await eventually('nobody else holds a connection', () => {
          const { totalCount, idleCount, waitingCount } = poolOf(app.dataSource);
          return totalCount - idleCount === 1 && waitingCount === 0;
        });
        expectPaid(await send({ key: `other-${run}` }), 2);
        const answer = await first.finish();
        expectPaid(answer);
        for (const duplicate of duplicates) expectReplay(await duplicate, answer);
      },
    ),
  },
  {
    when: 'a duplicate waits, and its client leaves',
    ...whileWaiting(PAID_ONCE, async ({ script, first, open, look }) => {
      const endings: unknown[] = [];
      script.outer = (next) => next.handle().pipe(tap({ error: (error) => endings.push(error) }));
      const told = look(2);
      const socket = await open(PATIENT);
      await told;
      await look(1);
      expect(endings).toEqual([]);
      socket.destroy();
      await eventually('it waits no longer', () => endings.length > 0);
      expect(endings).toMatchObject([{ code: 'idempotency-request-in-progress' }]);
      expectPaid(await first.finish());
    }),
  },
  {
    when: 'a duplicate waits, and the application shuts down',
    ...whileWaiting(PAID_ONCE, async ({ app, first, wait }) => {
      const [duplicate] = await wait(1);
      const closed = app.close();
      expectProblem(await duplicate!, 'idempotency-shutting-down', { retryAfter: 1 });
      expectPaid(await first.finish());
      await closed;
    }),
  },
  {
    when: 'another request comes with the key of one that is waited for',
    ...whileWaiting(PAID_ONCE, async ({ first, wait, send }) => {
      const [duplicate] = await wait(1);
      expectProblem(await send({ ...PATIENT, body: '{"amount":999}' }), 'idempotency-key-reused');
      const answer = await first.finish();
      expectPaid(answer);
      expectReplay(await duplicate!, answer);
    }),
  },
];
