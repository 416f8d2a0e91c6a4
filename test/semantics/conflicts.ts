import { ConflictException, HttpException, UnprocessableEntityException } from '@nestjs/common';
import { expect } from '@jest/globals';
import { defer, map, raceWith } from 'rxjs';
import type { EntityManager } from 'typeorm';
import { eventually, gate } from '../wire/gate.js';
import { expectAnswer, expectNothingLeft, expectPaid, expectProblem } from './expectations.js';
import { atFirst, FAILED, type Fate, type Handler, refusalKept, released, throwing } from './fates.js';
import type { Ruled } from './routes.js';
import { type Ending, PAID_BY_RETRY, type Situation } from './situation.js';
import { Mapped } from './surroundings.js';

const raise = (manager: EntityManager, state: string) =>
  manager.query(`DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '${state}'; END $$`);

/** The first two to come lock each other out for real: the database has to choose one of them to give way. */
function deadlocking(before: Handler = () => undefined): Handler {
  const [firstHasOne, secondHasOne] = [gate(), gate()];
  return async (scene) => {
    await before(scene);
    const { run, entry, manager, paid } = scene;
    const lock = (name: string) => manager.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`${run} ${name}`]);
    if (entry > 2) return paid;
    await lock(entry === 1 ? 'one' : 'two');
    (entry === 1 ? firstHasOne : secondHasOne).open();
    await (entry === 1 ? secondHasOne : firstHasOne).passed;
    await lock(entry === 1 ? 'two' : 'one');
    return paid;
  };
}

const BOTH_PAID: Ending = { entries: 3, payments: 2, records: ['completed', 'completed'] };

/** Undone, and answered so that the client comes back at once. */
const givenWay = (path: string, handler: Handler, tries: number): Fate => ({
  ends: { entries: tries + 1, payments: 1, records: ['completed'] },
  play: async (stage) => {
    stage.script.handler = (scene) => (scene.entry <= tries ? handler(scene) : scene.paid);
    expectProblem(await stage.send({ path }), 'idempotency-work-conflict', { retryAfter: 1 });
    await expectNothingLeft(stage);
    expectPaid(await stage.send({ path }), tries + 1);
  },
});

const RULED = { path: '/ruled' };

/** The error with what its endpoint is to make of it. */
const ruled = (error: object, rule: Ruled['rule']): Handler => throwing(Object.assign(error, { rule }));

export const conflicts: readonly Situation[] = [
  {
    when: 'two handlers deadlock',
    ends: BOTH_PAID,
    play: async ({ run, script, send, records }) => {
      script.handler = deadlocking();
      const keys = [run, `other-${run}`];
      const answers = await Promise.all(keys.map((key) => send({ key })));
      const loser = answers.findIndex(({ status }) => status === 503);
      expect(answers[1 - loser]!.status).toBe(201);
      expectProblem(answers[loser]!, 'idempotency-work-conflict', { retryAfter: 1 });
      expect(await records()).toMatchObject([{ key: keys[1 - loser] }]);
      expectPaid(await send({ key: keys[loser]! }), 3);
    },
  },
  {
    when: 'two handlers deadlock, where conflicts are retried (`conflictRetries`)',
    ends: BOTH_PAID,
    play: async ({ run, platform, script, send }) => {
      script.handler = deadlocking(({ entry, reply }) => {
        // Express would replace, and Fastify adds to cookies by itself.
        const appending = reply as unknown as { append(name: string, value: string): unknown };
        if (platform === 'express') appending.append('Set-Cookie', `try=${entry}`);
        else reply.header('Set-Cookie', `try=${entry}`);
        reply.header('X-Receipt', `of ${entry}`).status(202);
      });
      const answers = await Promise.all([run, `other-${run}`].map((key) => send({ key, path: '/retrying' })));
      const entries = answers.map((answer) => {
        const { entry } = answer.json() as { entry: number };
        const lines = [
          'content-type: application/json; charset=utf-8',
          `set-cookie: try=${entry}`,
          `x-receipt: of ${entry}`,
        ];
        expectAnswer(answer, { line: '202 Accepted', body: { paid: run, entry }, lines });
        return entry;
      });
      expect(Math.max(...entries)).toBe(3);
    },
  },
  {
    when: 'a serialization failure of the handler',
    ...givenWay('/plain', ({ manager }) => raise(manager, '40001'), 1),
  },
  {
    when: 'a serialization failure that the handler gives as the cause of its own error',
    ...givenWay(
      '/plain',
      ({ manager }) =>
        raise(manager, '40001').catch((cause: unknown) => {
          throw new ConflictException('Busy.', { cause });
        }),
      1,
    ),
  },
  {
    when: 'a serialization failure that the handler makes a 409 of',
    ...released(['409 Conflict', { message: 'Busy.', error: 'Conflict', statusCode: 409 }], ({ manager }) =>
      raise(manager, '40001').catch(() => {
        throw new ConflictException('Busy.');
      }),
    ),
  },
  {
    when: 'a conflict at every try, where conflicts are retried twice',
    ...givenWay('/retrying', ({ manager }) => raise(manager, '40001'), 3),
  },
  {
    when: 'a conflict that only the commit finds',
    ends: { entries: 2, payments: 0, records: [] },
    play: async (stage) => {
      const name = `late_${stage.run.replaceAll('-', '')}`;
      await stage.sql(
        `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$`,
      );
      await stage.sql(
        `CREATE CONSTRAINT TRIGGER ${name} AFTER INSERT ON payments DEFERRABLE INITIALLY DEFERRED
           FOR EACH ROW WHEN (NEW.run = '${stage.run}') EXECUTE FUNCTION ${name}()`,
      );
      for (const path of ['/plain', '/retrying']) {
        expectProblem(await stage.send({ path }), 'idempotency-work-conflict', { retryAfter: 1 });
        await expectNothingLeft(stage);
      }
    },
  },
  {
    when: "`errors` says 'record' of a 5xx",
    ...refusalKept(
      ['503 Service Unavailable', { statusCode: 503, message: 'Closed for good.' }],
      ruled(new HttpException('Closed for good.', 503), () => 'record'),
      RULED,
    ),
  },
  {
    when: "`errors` says 'release' of a 4xx",
    ...released(
      ['422 Unprocessable Entity', { message: 'Unprocessable Entity', statusCode: 422 }],
      ruled(new UnprocessableEntityException(), () => 'release'),
      RULED,
    ),
  },
  {
    when: '`errors` says nothing of a 4xx',
    ...refusalKept(
      ['422 Unprocessable Entity', { message: 'Unprocessable Entity', statusCode: 422 }],
      ruled(new UnprocessableEntityException(), () => undefined),
      RULED,
    ),
  },
  {
    when: '`errors` says nothing of a 5xx',
    ...released(
      FAILED,
      ruled(new Error('The handler fails.'), () => undefined),
      RULED,
    ),
  },
  {
    when: '`errors` is asked',
    ends: PAID_BY_RETRY,
    play: async ({ script, send }) => {
      const asked: unknown[] = [];
      const error = new Mapped(402, { funds: 0 });
      const rule: Ruled['rule'] = (...given) => {
        asked.push(given);
        return 'release';
      };
      script.handler = ({ entry, paid }) => {
        if (entry === 1) throw Object.assign(error, { rule });
        return paid;
      };
      expectAnswer(await send(RULED), { line: '402 Payment Required', body: { funds: 0 } });
      expect(asked).toEqual([[error, 402]]);
      expect((asked as unknown[][])[0]![0]).toBe(error);
      expectPaid(await send(RULED), 2);
    },
  },
  {
    when: '`errors` throws',
    ends: PAID_BY_RETRY,
    play: async (stage) => {
      const failure = new Error(`The rule fails in ${stage.run}.`);
      const rule = throwing(failure) as () => never;
      stage.script.handler = ({ entry, paid }) => {
        if (entry === 1) throw Object.assign(new UnprocessableEntityException(), { rule });
        return paid;
      };
      expectProblem(await stage.send(RULED), 'idempotency-work-broken');
      await expectNothingLeft(stage);
      expect(stage.complaints(failure.message)).toHaveLength(1);
      expectPaid(await stage.send(RULED), 2);
    },
  },
  {
    when: "`errors` would say 'record' of a conflict, or of what a pipe throws",
    ends: { entries: 2, payments: 1, records: ['completed'] },
    play: async ({ script, start }) => {
      const asked: unknown[] = [];
      const errors: Ruled['rule'] = (error) => {
        asked.push(error);
        return 'record';
      };
      const stage = await start({ idempotency: { errors } });
      script.handler = ({ entry, manager, paid }) => (entry === 1 ? raise(manager, '40P01') : paid);
      expectProblem(await stage.send({ path: '/piped' }), 'idempotency-work-conflict', { retryAfter: 1 });
      script.pipe = throwing(new UnprocessableEntityException()) as () => never;
      expect((await stage.send({ path: '/piped' })).status).toBe(422);
      await expectNothingLeft(stage);
      delete script.pipe;
      expectPaid(await stage.send({ path: '/piped' }), 2);
      expect(asked).toEqual([]);
    },
  },
  {
    when: "`errors` would say 'record' of what a handler throws that was answered for",
    ends: PAID_BY_RETRY,
    play: async (stage) => {
      const { script } = stage;
      const { passed, open } = gate();
      script.outer = (next) =>
        next
          .handle()
          .pipe(raceWith(defer(() => passed).pipe(map(throwing(new HttpException('', 408)) as () => never))));
      script.handler = atFirst(ruled(new UnprocessableEntityException(), () => 'record'));
      const first = await stage.begin(RULED);
      open();
      expect((await first.answered()).status).toBe(408);
      delete script.outer;
      first.letGo();
      await eventually('the claim is settled', async () => (await stage.records())[0]?.state !== 'in_progress');
      await expectNothingLeft(stage);
      expectPaid(await stage.send(RULED), 2);
    },
  },
];
