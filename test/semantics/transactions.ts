import { UnprocessableEntityException } from '@nestjs/common';
import { expect } from '@jest/globals';
import { expectNothingLeft, expectPaid, expectProblem, expectReplay } from './expectations.js';
import { FAILED, refusalKept, released, throwing } from './fates.js';
import type { Scene } from './script.js';
import { type Ending, NOTHING_HAPPENED, PAID_BY_RETRY, PAID_ONCE, type Situation } from './situation.js';
import type { Stage } from './stage.js';
import { whileWaiting } from './waiting-stage.js';

const TRANSACTION = { path: '/transaction' };
const OTHER = { ...TRANSACTION, body: '{"amount":999}' };

const BOTH_PAID: Ending = { entries: 3, payments: 2, records: ['completed', 'completed'] };

/** Two operations of which each reads what the other has written by then: no order of them would give the same. */
async function skew({ run, script, begin }: Stage, path: string) {
  script.handler = async ({ manager, paid }: Scene) => {
    await manager.query('SELECT count(*) FROM payments WHERE run = $1', [run]);
    return paid;
  };
  const first = await begin({ path });
  const second = await begin({ path, key: `other-${run}` });
  expectPaid(await first.finish());
  return second.finish();
}

export const transactions: readonly Situation[] = [
  {
    when: 'without a lease: in progress',
    ends: PAID_ONCE,
    play: async (stage) => {
      const first = await stage.begin(TRANSACTION);
      await expectNothingLeft(stage);
      expectPaid(await first.finish());
    },
  },
  {
    when: 'without a lease: in progress, and the same request comes again',
    ends: PAID_ONCE,
    play: async ({ begin, send }) => {
      const first = await begin(TRANSACTION);
      expectProblem(await send(TRANSACTION), 'idempotency-request-in-progress', { retryAfter: 1 });
      const answer = await first.finish();
      expectPaid(answer);
      expectReplay(await send(TRANSACTION), answer);
    },
  },
  {
    when: 'without a lease: in progress, and another request comes with its key',
    ends: PAID_ONCE,
    play: async ({ begin, send }) => {
      const first = await begin(TRANSACTION);
      expectProblem(await send(OTHER), 'idempotency-request-in-progress', { retryAfter: 1 });
      expectPaid(await first.finish());
      expectProblem(await send(OTHER), 'idempotency-key-reused');
    },
  },
  {
    when: 'without a lease: the session of the work dies',
    ends: PAID_BY_RETRY,
    play: async ({ begin, send, killWork }) => {
      const first = await begin(TRANSACTION);
      await killWork();
      const retry = await send(TRANSACTION);
      expectPaid(retry, 2);
      expectReplay(await first.finish(), retry);
    },
  },
  {
    when: 'without a lease: the session of the work dies, and no retry comes',
    ends: { entries: 1, payments: 0, records: [] },
    play: async ({ begin, killWork }) => {
      const first = await begin(TRANSACTION);
      await killWork();
      expectProblem(await first.finish(), 'idempotency-store-unavailable', { retryAfter: 1 });
    },
  },
  {
    when: 'without a lease: the handler throws a 4xx',
    ...refusalKept(
      ['422 Unprocessable Entity', { message: 'Unprocessable Entity', statusCode: 422 }],
      throwing(new UnprocessableEntityException()),
      TRANSACTION,
    ),
  },
  {
    when: 'without a lease: the handler throws an error',
    ...released(FAILED, throwing(new Error('It fails.')), TRANSACTION),
  },
  {
    when: 'without a lease: past its retention, and its key is remembered',
    ends: PAID_ONCE,
    play: async ({ start }) => {
      const { app, send, lapseRetention } = await start({ idempotency: { tombstones: '30d' } });
      expectPaid(await send(TRANSACTION));
      await lapseRetention();
      expectProblem(await send(TRANSACTION), 'idempotency-key-expired');
      await app.sweep();
      expectProblem(await send(TRANSACTION), 'idempotency-key-expired');
    },
  },
  {
    when: 'without a lease: past its retention',
    ends: { entries: 2, payments: 2, records: ['completed'] },
    play: async ({ send, expire }) => {
      expectPaid(await send(TRANSACTION));
      await expire();
      const second = await send(OTHER);
      expectPaid(second, 2);
      expectReplay(await send(OTHER), second);
    },
  },
  {
    when: 'without a lease: a duplicate waits, and the first comes to its end',
    ...whileWaiting({ ends: PAID_ONCE, sending: { path: '/patient-transaction' } }, async ({ first, wait }) => {
      const [duplicate] = await wait(1);
      const answer = await first.finish();
      expectPaid(answer);
      expectReplay(await duplicate!, answer);
    }),
  },
  {
    when: "without a lease: two handlers that cannot be serialized, under `isolation: 'SERIALIZABLE'`",
    ends: BOTH_PAID,
    play: async (stage) => {
      const loser = await skew(stage, '/serializable');
      expectProblem(loser, 'idempotency-work-conflict', { retryAfter: 1 });
      expect(await stage.records()).toMatchObject([{ key: stage.run }]);
      expectPaid(await stage.send({ path: '/serializable', key: `other-${stage.run}` }), 3);
    },
  },
  {
    when: 'without a lease: the same, where conflicts are retried',
    ends: BOTH_PAID,
    play: async (stage) => expectPaid(await skew(stage, '/serializable-retrying'), 3),
  },
  {
    when: '`isolation` under a lease',
    ends: NOTHING_HAPPENED,
    play: async ({ refusalToStart }) => {
      const refusal = await refusalToStart({ idempotency: { isolation: 'SERIALIZABLE' } });
      expect(refusal).toContain("IdempotencyModule: `isolation` goes with `claim: 'transaction'` only.");
    },
  },
];
