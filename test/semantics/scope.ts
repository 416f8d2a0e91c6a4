import { HttpException, UnauthorizedException } from '@nestjs/common';
import { expect } from '@jest/globals';
import { expectAnswer, expectPaid, expectProblem, expectReplay } from './expectations.js';
import { type Fate, throwing } from './fates.js';
import { NOTHING_HAPPENED, PAID_BY_EACH, PAID_BY_RETRY, PAID_ONCE, type Situation } from './situation.js';
import type { Stage } from './stage.js';

const WHOSE_KEYS = /^IdempotencyModule: say whose keys are whose\. /;

/** The handler is not run while the tenant is not known. */
const unresolved = (...tenants: (() => unknown)[]): Fate => ({
  ends: NOTHING_HAPPENED,
  play: async ({ script, send }) => {
    for (const tenant of tenants) {
      script.tenant = tenant as () => string;
      expectProblem(await send(), 'idempotency-scope-unresolved');
    }
  },
});

/** A completed operation whose recording is asked for by a caller that may not have it. */
const withheld = (refuse: (stage: Stage) => Promise<void>): Fate => ({
  ends: PAID_ONCE,
  play: async (stage) => {
    const { script, send } = stage;
    const first = await send({ path: '/authorized' });
    expectPaid(first);
    await refuse(stage);
    script.authorizeReplay = () => true;
    expectReplay(await send({ path: '/authorized' }), first);
  },
});

export const scope: readonly Situation[] = [
  {
    when: 'neither `tenant` nor `singleTenant: true`',
    ends: NOTHING_HAPPENED,
    play: async ({ refusalToStart }) => {
      expect(await refusalToStart({ idempotency: { tenant: undefined as never } })).toMatch(WHOSE_KEYS);
      expect(await refusalToStart({ idempotency: { tenant: undefined as never, singleTenant: false } })).toMatch(
        WHOSE_KEYS,
      );
    },
  },
  {
    when: 'both `tenant` and `singleTenant: true`',
    ends: NOTHING_HAPPENED,
    play: async ({ refusalToStart }) => {
      expect(await refusalToStart({ idempotency: { tenant: () => 'shop', singleTenant: true } })).toMatch(WHOSE_KEYS);
    },
  },
  {
    when: '`singleTenant: true`, and two callers with one key',
    ends: PAID_ONCE,
    play: async ({ start }) => {
      const { send } = await start({ idempotency: { singleTenant: true } });
      const first = await send({ lines: ['Authorization: Bearer ada'] });
      expectPaid(first);
      expectReplay(await send({ lines: ['Authorization: Bearer bob'] }), first);
    },
  },
  {
    when: 'the tenant resolver returns nothing',
    ...unresolved(
      () => undefined,
      () => null,
      () => '',
      () => Promise.resolve(undefined),
    ),
  },
  {
    when: 'the tenant resolver returns what cannot name a tenant',
    ...unresolved(
      () => 42,
      () => ({ id: 'shop' }),
      () => 'sh\0p',
    ),
  },
  {
    when: 'the tenant resolver throws',
    ends: NOTHING_HAPPENED,
    play: async ({ run, script, send, complaints }) => {
      const failure = new Error(`secret of ${run}`);
      for (const tenant of [throwing(failure) as () => never, () => Promise.reject(failure)]) {
        script.tenant = tenant;
        const answer = await send();
        expectProblem(answer, 'idempotency-scope-unresolved');
        expect(answer.payload.toString()).not.toContain('secret');
      }
      expect(complaints(failure.message)).not.toEqual([]);
    },
  },
  {
    when: 'the tenant resolver throws an `HttpException`',
    ends: NOTHING_HAPPENED,
    play: async ({ script, send }) => {
      script.tenant = () => Promise.reject(new HttpException({ account: 'closed' }, 402));
      expectAnswer(await send(), { line: '402 Payment Required', body: { account: 'closed' } });
    },
  },
  {
    when: 'the same key of another tenant',
    ends: PAID_BY_EACH,
    play: async ({ script, send, records }) => {
      script.tenant = () => 'ada';
      const first = await send();
      expectPaid(first);
      script.tenant = () => 'bob';
      const second = await send({ body: '{"amount":200}' });
      expectPaid(second, 2);
      expect(await records()).toMatchObject([{ tenant: 'ada' }, { tenant: 'bob' }]);
      expectReplay(await send({ body: '{"amount":200}' }), second);
      script.tenant = () => 'ada';
      expectReplay(await send(), first);
    },
  },
  {
    when: 'the same key at another endpoint',
    ends: PAID_BY_EACH,
    play: async ({ send, records }) => {
      const first = await send({ path: '/plain' });
      expectPaid(first);
      const second = await send({ path: '/other' });
      expectPaid(second, 2);
      expect(await records()).toMatchObject([{ endpoint: 'POST /plain' }, { endpoint: 'POST /other' }]);
      expectReplay(await send({ path: '/other' }), second);
      expectReplay(await send({ path: '/plain' }), first);
    },
  },
  {
    when: 'the same key with another method at the same path',
    ends: PAID_BY_EACH,
    play: async ({ run, send, records }) => {
      expectPaid(await send({ method: 'POST' }));
      expectAnswer(await send({ method: 'PUT' }), { line: '200 OK', body: { paid: run, entry: 2 } });
      expect(await records()).toMatchObject([{ endpoint: 'POST /plain' }, { endpoint: 'PUT /plain' }]);
    },
  },
  {
    when: 'the same key and endpoint with other path parameters',
    ends: PAID_ONCE,
    play: async ({ send, records }) => {
      const first = await send({ path: '/items/1' });
      expectPaid(first);
      expectProblem(await send({ path: '/items/2' }), 'idempotency-key-reused');
      expect(await records()).toMatchObject([{ endpoint: 'POST /items/:id' }]);
      expectReplay(await send({ path: '/items/1' }), first);
    },
  },
  {
    when: 'an endpoint with a name of its own (`endpoint`)',
    ends: PAID_ONCE,
    play: async ({ send, records }) => {
      const first = await send({ path: '/named' });
      expectPaid(first);
      expect(await records()).toMatchObject([{ endpoint: 'pay' }]);
      expectReplay(await send({ path: '/named' }), first);
    },
  },
  {
    when: 'the same key at another route of that name',
    ends: PAID_ONCE,
    play: async ({ send }) => {
      const first = await send({ path: '/named' });
      expectPaid(first);
      expectReplay(await send({ path: '/moved' }), first);
      expectProblem(await send({ path: '/moved', body: '{"amount":999}' }), 'idempotency-key-reused');
    },
  },
  {
    when: 'a retry of a caller whom a guard refuses by now',
    ends: PAID_ONCE,
    play: async ({ script, send }) => {
      const first = await send();
      expectPaid(first);
      script.guard = () => {
        throw new UnauthorizedException();
      };
      const body = { message: 'Unauthorized', statusCode: 401 };
      expectAnswer(await send(), { line: '401 Unauthorized', body });
      script.guard = () => true;
      expectReplay(await send(), first);
    },
  },
  {
    when: '`authorizeReplay` returns true',
    ends: PAID_ONCE,
    play: async ({ run, script, send }) => {
      const first = await send({ path: '/authorized' });
      const asked: unknown[] = [];
      script.authorizeReplay = (record) => Promise.resolve(asked.push(record) > 0);
      expectReplay(await send({ path: '/authorized' }), first);
      const operation = { tenant: 'shop', endpoint: 'POST /authorized', key: run };
      expect(asked).toEqual([{ operation, status: 201, resource: null }]);
    },
  },
  {
    when: '`authorizeReplay` returns false',
    ...withheld(async ({ script, send }) => {
      script.authorizeReplay = () => false;
      expectProblem(await send({ path: '/authorized' }), 'idempotency-replay-forbidden');
    }),
  },
  {
    when: '`authorizeReplay` returns nothing, or anything else but true',
    ...withheld(async ({ script, send }) => {
      for (const returned of [undefined, null, 1, 'true', Promise.resolve(undefined)]) {
        script.authorizeReplay = () => returned as unknown as boolean;
        expectProblem(await send({ path: '/authorized' }), 'idempotency-replay-forbidden');
      }
    }),
  },
  {
    when: '`authorizeReplay` returns false to a caller whose request was taken over',
    ends: PAID_BY_RETRY,
    play: async ({ script, begin, lapse, send }) => {
      script.authorizeReplay = () => false;
      const first = await begin({ path: '/authorized' });
      await lapse();
      expectPaid(await send({ path: '/authorized' }), 2);
      expectProblem(await first.finish(), 'idempotency-replay-forbidden');
    },
  },
  {
    when: '`authorizeReplay` throws an `HttpException`',
    ...withheld(async ({ script, send }) => {
      script.authorizeReplay = () => {
        throw new HttpException({ moved: 'to another account' }, 410);
      };
      expectAnswer(await send({ path: '/authorized' }), { line: '410 Gone', body: { moved: 'to another account' } });
    }),
  },
  {
    when: '`authorizeReplay` throws anything else',
    ...withheld(async ({ script, send }) => {
      script.authorizeReplay = () => Promise.reject(new Error('The rights could not be looked up.'));
      const body = { statusCode: 500, message: 'Internal server error' };
      expectAnswer(await send({ path: '/authorized' }), { line: '500 Internal Server Error', body });
    }),
  },
];
