import { expect } from '@jest/globals';
import { DatabaseProxy } from '../faults/database-proxy.js';
import { eventually } from '../wire/gate.js';
import { Witness } from '../wire/ledger.js';
import { expectInProgress, expectNothingLeft, expectPaid, expectProblem, expectReplay } from './expectations.js';
import type { Fate } from './fates.js';
import { NOTHING_HAPPENED, PAID_BY_RETRY, PAID_ONCE, type Situation } from './situation.js';
import type { Stage } from './stage.js';

const OTHER = { body: '{"amount":999}' };

/** An operation whose record no longer counts: the next request under its key is a new one, whatever it asks. */
const forgotten = (forget: (stage: Stage) => Promise<unknown>, next = {}): Fate => ({
  ends: { entries: 2, payments: 2, records: ['completed'] },
  play: async (stage) => {
    const { send, records } = stage;
    expectPaid(await send());
    await forget(stage);
    const second = await send(next);
    expectPaid(second, 2);
    expect(await records()).toMatchObject([{ attempts: 1, retentionMs: 24 * 60 * 60 * 1000 }]);
    expectReplay(await send(next), second);
  },
});

const REMEMBERING = { idempotency: { tombstones: '30d' as const } };

/** A key that is remembered as used, and not for what it was answered. */
const remembered = (lapse: (stage: Stage) => Promise<unknown>): Fate => ({
  ends: PAID_ONCE,
  play: async ({ start }) => {
    const stage = await start(REMEMBERING);
    expectPaid(await stage.send());
    await lapse(stage);
    expectProblem(await stage.send(), 'idempotency-key-expired');
    expectProblem(await stage.send(), 'idempotency-key-expired');
  },
});

/** An application whose database fails in this way: nothing runs, and once it is back all is well. */
const databaseFails = (fail: (proxy: DatabaseProxy) => Promise<void> | void): Fate => ({
  ends: PAID_ONCE,
  play: async ({ url, start }) => {
    const proxy = await DatabaseProxy.to(url);
    try {
      const stage = await start({ url: proxy.url, idempotency: { acquireTimeoutMs: 500, statementTimeoutMs: 500 } });
      await fail(proxy);
      expectProblem(await stage.send(), 'idempotency-store-unavailable', { retryAfter: 1 });
      await expectNothingLeft(stage);
      await proxy.heal();
      const answer = await eventually('the database is back', async () => {
        const tried = await stage.send();
        return tried.status === 503 ? null : tried;
      });
      expectPaid(answer);
    } finally {
      await proxy.close();
    }
  },
});

/** An application that is being closed while a request of it is at work. */
const shuttingDown = (ends: Situation['ends'], act: (stage: Stage) => Promise<void>): Fate => ({
  ends,
  play: async ({ start }) => {
    const stage = await start({});
    const first = await stage.begin();
    const closed = stage.app.close();
    await stage.app.closing;
    await act(stage);
    expect([await stage.payments(), await stage.records()]).toMatchObject([0, [{ state: 'in_progress' }]]);
    expectPaid(await first.finish());
    await closed;
  },
});

export const state: readonly Situation[] = [
  {
    when: 'completed, and the same request comes again',
    ends: PAID_ONCE,
    play: async ({ send }) => {
      const first = await send();
      expectPaid(first);
      expectReplay(await send(), first);
      expectReplay(await send(), first);
    },
  },
  {
    when: 'completed, and another request comes with its key',
    ends: PAID_ONCE,
    play: async ({ send }) => {
      const first = await send();
      expectPaid(first);
      expectProblem(await send(OTHER), 'idempotency-key-reused');
      expectReplay(await send(), first);
    },
  },
  {
    when: 'another request comes, and the module names another status for that (`mismatchStatus`)',
    ends: PAID_ONCE,
    play: async ({ start }) => {
      const { send } = await start({ idempotency: { mismatchStatus: 409 } });
      expectPaid(await send());
      expectProblem(await send(OTHER), 'idempotency-key-reused', { line: '409 Conflict' });
    },
  },
  {
    when: 'in progress, and the same request comes again',
    ends: PAID_ONCE,
    play: async (stage) => {
      const first = await stage.begin();
      await expectInProgress(stage, () => stage.send());
      expect(await stage.records()).toMatchObject([{ state: 'in_progress', attempts: 1 }]);
      expectPaid(await first.finish());
    },
  },
  {
    when: 'in progress, with a lease of more than a minute left',
    ends: PAID_ONCE,
    play: async ({ run, begin, send, sql }) => {
      const first = await begin();
      await sql(`UPDATE idempotency_records SET locked_until = now() + interval '1 h' WHERE key = $1`, run);
      expectProblem(await send(), 'idempotency-request-in-progress', { retryAfter: 60 });
      expectPaid(await first.finish());
    },
  },
  {
    when: 'in progress, and another request comes with its key',
    ends: PAID_ONCE,
    play: async ({ begin, send }) => {
      const first = await begin();
      expectProblem(await send(OTHER), 'idempotency-key-reused');
      expectPaid(await first.finish());
    },
  },
  {
    when: 'in progress, but its lease has run out',
    ends: PAID_BY_RETRY,
    play: async ({ begin, send, lapse, records }) => {
      const first = await begin();
      await lapse();
      const second = await send();
      expectPaid(second, 2);
      expect(await records()).toMatchObject([{ state: 'completed', attempts: 2 }]);
      expectReplay(await first.finish(), second);
    },
  },
  {
    when: 'in progress, its lease has run out, and another request comes with its key',
    ends: PAID_ONCE,
    play: async ({ begin, send, lapse }) => {
      const first = await begin();
      await lapse();
      expectProblem(await send(OTHER), 'idempotency-key-reused');
      expectPaid(await first.finish());
    },
  },
  {
    when: 'the one that was taken over ends first',
    ends: PAID_BY_RETRY,
    play: async (stage) => {
      const first = await stage.begin();
      await stage.lapse();
      const second = await stage.begin();
      await expectInProgress(stage, () => first.finish());
      expect(await stage.payments()).toBe(0);
      expectPaid(await second.finish(), 2);
    },
  },
  {
    when: 'the one that was taken over ends last',
    ends: PAID_BY_RETRY,
    play: async ({ begin, lapse, send }) => {
      const first = await begin();
      await lapse();
      const second = await begin();
      const winner = await second.finish();
      expectPaid(winner, 2);
      expectReplay(await first.finish(), winner);
      expectReplay(await send(), winner);
    },
  },
  {
    when: 'its lease has run out, and its record is locked by a commit that does not come to an end',
    ends: PAID_BY_RETRY,
    play: async ({ run, url, begin, send, lapse }) => {
      const first = await begin();
      await lapse();
      const other = await Witness.of(url);
      try {
        await other.query('BEGIN');
        await other.query('SELECT FROM idempotency_records WHERE key = $1 FOR UPDATE', [run]);
        expectProblem(await send(), 'idempotency-request-in-progress', { retryAfter: 1 });
      } finally {
        await other.close();
      }
      const second = await send();
      expectPaid(second, 2);
      expectReplay(await first.finish(), second);
    },
  },
  {
    when: 'in progress, and the database session of the work dies',
    ends: PAID_BY_RETRY,
    play: async (stage) => {
      const first = await stage.begin();
      await stage.killWork();
      await expectInProgress(stage, () => stage.send());
      expectProblem(await first.finish(), 'idempotency-store-unavailable', { retryAfter: 1 });
      await expectNothingLeft(stage);
      expectPaid(await stage.send(), 2);
    },
  },
  { when: 'past its retention, not swept yet', ...forgotten(({ expire }) => expire()) },
  {
    when: 'past its retention, not swept yet, and another request comes with its key',
    ...forgotten(({ expire }) => expire(), OTHER),
  },
  {
    when: 'past its retention, and swept',
    ...forgotten(({ run, sql }) => sql('DELETE FROM idempotency_records WHERE key = $1', run)),
  },
  {
    when: 'past its retention, and its key is remembered (`tombstones`)',
    ...remembered(({ lapseRetention }) => lapseRetention()),
  },
  {
    when: 'past its retention, its key is remembered, and it is swept',
    ...remembered(async (stage) => {
      await stage.lapseRetention();
      await stage.app.sweep();
      expect(await stage.records()).toMatchObject([{ omitted: 'expired', headers: null, body: null }]);
    }),
  },
  {
    when: 'past its retention, its key is remembered, and another request comes with it',
    ends: PAID_ONCE,
    play: async ({ start }) => {
      const { app, send, lapseRetention } = await start(REMEMBERING);
      expectPaid(await send());
      await lapseRetention();
      expectProblem(await send(OTHER), 'idempotency-key-reused');
      await app.sweep();
      expectProblem(await send(OTHER), 'idempotency-key-reused');
    },
  },
  {
    when: 'past the time for which its key is remembered',
    ends: { entries: 2, payments: 2, records: ['completed'] },
    play: async ({ start }) => {
      const { app, send, lapseRetention, expire } = await start(REMEMBERING);
      expectPaid(await send());
      await lapseRetention();
      await app.sweep();
      await expire();
      expectPaid(await send(), 2);
    },
  },
  {
    when: 'in progress, past its lease and its retention, its key would be remembered, and another request comes with it',
    ends: PAID_BY_RETRY,
    play: async ({ start }) => {
      const { begin, send, lapse, lapseRetention } = await start(REMEMBERING);
      const first = await begin();
      await lapse();
      await lapseRetention();
      expectPaid(await send(OTHER), 2);
      expectProblem(await first.finish(), 'idempotency-key-reused');
    },
  },
  {
    when: 'in progress, past its lease and its retention, and another request comes with its key',
    ends: PAID_BY_RETRY,
    play: async ({ begin, send, lapse, expire }) => {
      const first = await begin();
      await lapse();
      await expire();
      expectPaid(await send(OTHER), 2);
      expectProblem(await first.finish(), 'idempotency-key-reused');
    },
  },
  {
    when: 'in progress under a live lease, past its retention',
    ends: PAID_ONCE,
    play: async (stage) => {
      const first = await stage.begin();
      await stage.expire();
      await expectInProgress(stage, () => stage.send());
      expectPaid(await first.finish());
    },
  },
  { when: 'the database refuses connections', ...databaseFails((proxy) => proxy.refuse()) },
  {
    when: 'the database does not answer',
    ...databaseFails((proxy) => {
      proxy.cut();
      proxy.stall();
    }),
  },
  {
    when: 'the database is read-only',
    ends: NOTHING_HAPPENED,
    play: async ({ url, start }) => {
      const { send } = await start({ url: `${url}?options=-c%20default_transaction_read_only%3Don` });
      expectProblem(await send(), 'idempotency-store-unavailable', { retryAfter: 1 });
    },
  },
  {
    when: 'no connection of the pool comes free in time',
    ends: { entries: 2, payments: 2, records: ['completed', 'completed'] },
    play: async ({ run, start }) => {
      const { begin, send, records } = await start({ poolSize: 1, idempotency: { acquireTimeoutMs: 100 } });
      const first = await begin();
      expectProblem(await send({ key: `other-${run}` }), 'idempotency-store-unavailable', { retryAfter: 1 });
      expect(await records()).toMatchObject([{ key: run }]);
      expectPaid(await first.finish());
      expectPaid(await send({ key: `other-${run}` }), 2);
    },
  },
  {
    when: 'the database is away, and the operation is completed',
    ends: PAID_ONCE,
    play: async ({ url, start }) => {
      const proxy = await DatabaseProxy.to(url);
      try {
        const { send } = await start({ url: proxy.url });
        const first = await send();
        expectPaid(first);
        await proxy.refuse();
        expectProblem(await send(), 'idempotency-store-unavailable', { retryAfter: 1 });
        await proxy.heal();
        const replay = await eventually('the database is back', async () => {
          const tried = await send();
          return tried.status === 503 ? null : tried;
        });
        expectReplay(replay, first);
      } finally {
        await proxy.close();
      }
    },
  },
  {
    when: 'no key, where none is required, and the database is away',
    ends: NOTHING_HAPPENED,
    play: async ({ url, start }) => {
      const proxy = await DatabaseProxy.to(url);
      try {
        const { send } = await start({ url: proxy.url });
        await proxy.refuse();
        const answer = await send({ path: '/optional', key: null });
        expectProblem(answer, 'idempotency-store-unavailable', { retryAfter: 1 });
      } finally {
        await proxy.close();
      }
    },
  },
  {
    when: 'the application is shutting down, and a new request comes',
    ...shuttingDown(PAID_ONCE, async ({ run, send }) => {
      expectProblem(await send({ key: `other-${run}` }), 'idempotency-shutting-down', { retryAfter: 1 });
      expectProblem(await send(), 'idempotency-shutting-down', { retryAfter: 1 });
      const unprotected = await send({ path: '/optional', key: null });
      expectProblem(unprotected, 'idempotency-shutting-down', { retryAfter: 1 });
    }),
  },
  {
    when: 'the application is shutting down, and work is under way',
    ...shuttingDown(PAID_ONCE, async () => {}),
  },
];
