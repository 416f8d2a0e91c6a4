import { BadRequestException } from '@nestjs/common';
import { expect } from '@jest/globals';
import { tap } from 'rxjs';
import { poolOf } from '../module/work-app.js';
import { eventually } from '../wire/gate.js';
import { expectAnswer, expectInProgress, expectPaid, expectProblem, expectReplay } from './expectations.js';
import { atFirst, throwing } from './fates.js';
import { PAID_BY_RETRY, PAID_ONCE, REFUSAL_KEPT, type Situation } from './situation.js';
import { whileWaiting } from './waiting-stage.js';

export const waiting: readonly Situation[] = [
  {
    when: 'a duplicate waits, and the first comes to its end',
    ...whileWaiting({ ends: PAID_ONCE }, async ({ first, wait, look }) => {
      const [duplicate] = await wait(1);
      await look(2);
      const answer = await first.finish();
      expectPaid(answer);
      expectReplay(await duplicate!, answer);
    }),
  },
  {
    when: 'a duplicate waits, and the first is refused',
    ...whileWaiting({ ends: REFUSAL_KEPT, handler: throwing(new BadRequestException()) }, async ({ first, wait }) => {
      const [duplicate] = await wait(1);
      const answer = await first.finish();
      const body = { message: 'Bad Request', statusCode: 400 };
      expectAnswer(answer, { line: '400 Bad Request', body });
      expectReplay(await duplicate!, answer);
    }),
  },
  {
    when: 'a duplicate waits, and the first fails',
    ...whileWaiting(
      { ends: PAID_BY_RETRY, handler: atFirst(throwing(new Error('The first fails.'))) },
      async ({ first, wait }) => {
        const [duplicate] = await wait(1);
        const body = { statusCode: 500, message: 'Internal server error' };
        expectAnswer(await first.finish(), { line: '500 Internal Server Error', body });
        expectPaid(await duplicate!, 2);
      },
    ),
  },
  {
    when: 'a duplicate waits, and the lease of the first runs out',
    ...whileWaiting({ ends: PAID_BY_RETRY }, async ({ first, wait, lapse }) => {
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
      { ends: { entries: 2, payments: 2, records: ['completed', 'completed'] } },
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
    ...whileWaiting({ ends: PAID_ONCE }, async ({ script, first, sending, open, look }) => {
      const endings: unknown[] = [];
      script.outer = (next) => next.handle().pipe(tap({ error: (error) => endings.push(error) }));
      const told = look(2);
      const socket = await open(sending);
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
    ...whileWaiting({ ends: PAID_ONCE }, async ({ app, first, wait }) => {
      const [duplicate] = await wait(1);
      const closed = app.close();
      expectProblem(await duplicate!, 'idempotency-shutting-down', { retryAfter: 1 });
      expectPaid(await first.finish());
      await closed;
    }),
  },
  {
    when: 'another request comes with the key of one that is waited for',
    ...whileWaiting({ ends: PAID_ONCE }, async ({ first, sending, wait, send }) => {
      const [duplicate] = await wait(1);
      expectProblem(await send({ ...sending, body: '{"amount":999}' }), 'idempotency-key-reused');
      const answer = await first.finish();
      expectPaid(answer);
      expectReplay(await duplicate!, answer);
    }),
  },
];
