import { Controller, Post } from '@nestjs/common';
import { expect } from '@jest/globals';
import { type IdempotencyModuleOptions, Idempotent } from 'nestjs-idempotency';
import { eventually } from '../wire/gate.js';
import { expectPaid, expectProblem, expectReplay } from './expectations.js';
import type { Fate } from './fates.js';
import type { RecordRow } from './records.js';
import type { Sending } from './request.js';
import { NOTHING_HAPPENED, PAID_ONCE, type Situation } from './situation.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The times of a record whose work is under way. */
const times = (
  expected: Partial<Pick<RecordRow, 'leaseMs' | 'retentionMs' | 'replaysMs'>>,
  idempotency: Partial<IdempotencyModuleOptions> = {},
  sending: Sending = {},
): Fate => ({
  ends: PAID_ONCE,
  play: async ({ start }) => {
    const { begin, records } = await start({ idempotency });
    const first = await begin(sending);
    expect(await records()).toMatchObject([expected]);
    expectPaid(await first.finish());
  },
});

type Duration =
  'lease' | 'retention' | 'patience' | 'acquireTimeout' | 'statementTimeout' | 'renewFor' | 'shutdownTimeout';

const DURATIONS: readonly Duration[] = [
  'lease',
  'retention',
  'patience',
  'acquireTimeout',
  'statementTimeout',
  'renewFor',
  'shutdownTimeout',
];

/** No duration may be this: the application does not start, and the error names the option. */
const refused = (given: readonly (number | string)[], durations = DURATIONS): Fate => ({
  ends: NOTHING_HAPPENED,
  play: async ({ refusalToStart }) => {
    for (const [at, option] of durations.entries()) {
      const value = given[at % given.length]!;
      const name = typeof value === 'number' ? `${option}Ms` : option;
      const refusal = await refusalToStart({ idempotency: { [name]: value } });
      expect(refusal).toContain(`IdempotencyModule: \`${option}\` must `);
    }
  },
});

@Controller('short-lived')
class ShortLived {
  @Post()
  @Idempotent({ lease: '10m', retention: '5m' })
  pay(): void {}
}

export const time: readonly Situation[] = [
  { when: 'no `lease`', ...times({ leaseMs: MINUTE }) },
  { when: 'no `retention`', ...times({ retentionMs: DAY }) },
  { when: 'no `tombstones`', ...times({ retentionMs: DAY, replaysMs: null }) },
  {
    when: "`tombstones: '30d'`",
    ...times({ retentionMs: 31 * DAY, replaysMs: DAY }, { tombstones: '30d' }),
  },
  {
    when: '`tombstonesMs: 0` for one endpoint, where the module says otherwise',
    ...times({ retentionMs: DAY, replaysMs: null }, { tombstones: '30d' }, { path: '/forgotten' }),
  },
  {
    when: "durations as text: `lease: '90s'`, `retention: '7d'`",
    ...times({ leaseMs: 90 * SECOND, retentionMs: 7 * DAY }, { lease: '90s', retention: '7d' }),
  },
  {
    when: 'durations in milliseconds: `leaseMs: 90_500`, `retentionMs: 604_800_000`',
    ...times({ leaseMs: 90_500, retentionMs: 7 * DAY }, { leaseMs: 90_500, retentionMs: 604_800_000 }),
  },
  {
    when: 'durations of one endpoint (`@Idempotent({ lease, retentionMs })`)',
    ...times({ leaseMs: 2 * MINUTE, retentionMs: 3 * DAY }, { lease: '90s', retention: '7d' }, { path: '/timed' }),
  },
  {
    when: 'a retention shorter than the lease',
    ends: NOTHING_HAPPENED,
    play: async ({ refusalToStart }) => {
      const module = await refusalToStart({ idempotency: { lease: '10m', retention: '5m' } });
      expect(module).toContain('the retention (300000 ms) is shorter than the lease (600000 ms)');
      const endpoint = await refusalToStart({ controllers: [ShortLived] });
      expect(endpoint).toContain('ShortLived.pay');
      expect(endpoint).toContain('the retention (300000 ms) is shorter than the lease (600000 ms)');
    },
  },
  {
    when: 'a retention shorter than `renewFor` and a lease together, under a lease',
    ends: NOTHING_HAPPENED,
    play: async ({ start, refusalToStart }) => {
      const refusal = await refusalToStart({ idempotency: { retention: '10m' } });
      expect(refusal).toContain('the retention (600000 ms) is shorter than work may take');
      await start({ idempotency: { retention: '10m', renewFor: '9m' } });
      await start({ idempotency: { retention: '10m', claim: 'transaction' } });
    },
  },
  {
    when: 'a duration of zero, other than `patienceMs` and `tombstonesMs`',
    ...refused(
      [0, '0s'],
      DURATIONS.filter((name) => name !== 'patience'),
    ),
  },
  { when: 'a negative duration', ...refused([-1, '-5m'], ['lease', 'shutdownTimeout']) },
  { when: 'a duration that is no number', ...refused([NaN, Infinity], ['retention', 'acquireTimeout']) },
  { when: 'text that is no duration', ...refused(['soon', '', '5 parsecs'], ['lease', 'patience', 'renewFor']) },
  {
    when: 'a duration longer than a timer can hold, 24 days',
    ...refused(['25d', 2 ** 31], ['lease', 'statementTimeout']),
  },
  { when: 'a retention longer than a hundred years', ...refused(['101y'], ['retention']) },
  {
    when: 'work that takes longer than its lease, on a worker that lives',
    ends: PAID_ONCE,
    play: async ({ start }) => {
      const stage = await start({ idempotency: { leaseMs: 1_500 } });
      const first = await stage.begin();
      await eventually('the lease is renewed', async () => {
        const [record] = await stage.records();
        return record!.leaseMs! > 1_500;
      });
      const answer = await stage.send();
      const retryAfter = Number(answer.header('Retry-After'));
      expectProblem(answer, 'idempotency-request-in-progress', { retryAfter });
      expectPaid(await first.finish());
      expect(await stage.records()).toMatchObject([{ attempts: 1 }]);
    },
  },
  {
    when: 'the end of the work',
    ends: PAID_ONCE,
    play: async ({ begin, records }) => {
      const first = await begin();
      const [before] = await records();
      expectPaid(await first.finish());
      expect(await records()).toMatchObject([{ state: 'completed', expiresAt: before!.expiresAt }]);
    },
  },
  {
    when: 'a replay',
    ends: PAID_ONCE,
    play: async ({ run, send, sql, records }) => {
      const first = await send();
      await sql(`UPDATE idempotency_records SET expires_at = now() + interval '1 h' WHERE key = $1`, run);
      const before = await records();
      expectReplay(await send(), first);
      expect(await records()).toEqual(before);
    },
  },
];
