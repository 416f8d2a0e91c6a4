import { ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { expect } from '@jest/globals';
import { IdempotencyException } from 'nestjs-idempotency';
import { expectInProgress, expectNothingLeft, expectPaid, expectProblem, linesOf, statusLine } from './expectations.js';
import type { Fate } from './fates.js';
import type { Reply } from './script.js';
import { type Ending, NOTHING_HAPPENED, PAID_BY_RETRY, PAID_ONCE, type Situation } from './situation.js';
import type { Stage } from './stage.js';

type Code = Parameters<typeof expectProblem>[1];

/** How each problem comes about. */
const problem = (code: Code, ends: Ending, play: Situation['play']): Situation => ({ when: `\`${code}\``, ends, play });

const JSON_LINE = 'content-type: application/json; charset=utf-8';

const SECRET = 'correct-horse-battery-staple';

/** Has a filter of the application's own render what the library refuses. */
const rendering = (play: (stage: Stage, seen: IdempotencyException[]) => Promise<void>, ends: Ending): Fate => ({
  ends,
  play: async ({ start }) => {
    const seen: IdempotencyException[] = [];

    @Catch(IdempotencyException)
    class Rendering implements ExceptionFilter<IdempotencyException> {
      catch(exception: IdempotencyException, host: ArgumentsHost): void {
        seen.push(exception);
        host.switchToHttp().getResponse<Reply>().status(exception.getStatus()).send({ error: exception.code });
      }
    }

    await play(await start({ providers: [{ provide: APP_FILTER, useClass: Rendering }] }), seen);
  },
});

export const errors: readonly Situation[] = [
  problem('idempotency-key-missing', NOTHING_HAPPENED, async ({ send }) => {
    expectProblem(await send({ key: null }), 'idempotency-key-missing');
  }),
  problem('idempotency-key-invalid', NOTHING_HAPPENED, async ({ send }) => {
    expectProblem(await send({ key: 'a b' }), 'idempotency-key-invalid', { reason: 'syntax' });
  }),
  problem('idempotency-payload-invalid', NOTHING_HAPPENED, async ({ send }) => {
    const body = `${'['.repeat(600)}${']'.repeat(600)}`;
    expectProblem(await send({ body }), 'idempotency-payload-invalid', { reason: 'depth' });
  }),
  problem('idempotency-replay-forbidden', PAID_ONCE, async ({ script, send }) => {
    script.authorizeReplay = () => false;
    expectPaid(await send({ path: '/authorized' }));
    expectProblem(await send({ path: '/authorized' }), 'idempotency-replay-forbidden');
  }),
  problem('idempotency-request-in-progress', PAID_ONCE, async ({ run, begin, send, sql }) => {
    const first = await begin();
    await sql(`UPDATE idempotency_records SET locked_until = now() + interval '1 h' WHERE key = $1`, run);
    expectProblem(await send(), 'idempotency-request-in-progress', { retryAfter: 60 });
    expectPaid(await first.finish());
  }),
  problem('idempotency-response-unavailable', PAID_ONCE, async ({ run, send, sql }) => {
    expectPaid(await send());
    await sql(
      `UPDATE idempotency_records SET response_body = NULL, response_omitted = 'too_large', resource = '/payments/1'
        WHERE key = $1`,
      run,
    );
    const link = '</payments/1>; rel="related"';
    expectProblem(await send(), 'idempotency-response-unavailable', { resource: '/payments/1', link });
  }),
  problem('idempotency-key-expired', PAID_ONCE, async ({ run, start }) => {
    const { send, sql, lapseRetention } = await start({ idempotency: { tombstones: '30d' } });
    expectPaid(await send());
    await lapseRetention();
    await sql(`UPDATE idempotency_records SET resource = '/payments/1' WHERE key = $1`, run);
    const link = '</payments/1>; rel="related"';
    expectProblem(await send(), 'idempotency-key-expired', { resource: '/payments/1', link });
  }),
  problem('idempotency-payload-unsupported', NOTHING_HAPPENED, async ({ send }) => {
    const answer = await send({ type: 'multipart/form-data; boundary=x', body: '--x--\r\n' });
    expectProblem(answer, 'idempotency-payload-unsupported');
  }),
  problem('idempotency-key-reused', PAID_ONCE, async ({ send }) => {
    expectPaid(await send());
    expectProblem(await send({ body: '{}' }), 'idempotency-key-reused');
  }),
  problem('idempotency-scope-unresolved', NOTHING_HAPPENED, async ({ script, send }) => {
    script.tenant = () => null;
    expectProblem(await send(), 'idempotency-scope-unresolved');
  }),
  problem('idempotency-fingerprint-failed', NOTHING_HAPPENED, async ({ script, send }) => {
    script.asked = () => undefined;
    expectProblem(await send({ path: '/asking' }), 'idempotency-fingerprint-failed');
  }),
  problem('idempotency-work-broken', { entries: 1, payments: 0, records: [] }, async (stage) => {
    stage.script.handler = ({ manager }) => manager.query('COMMIT');
    expectProblem(await stage.send(), 'idempotency-work-broken');
    await expectNothingLeft(stage);
  }),
  problem('idempotency-work-conflict', { entries: 1, payments: 0, records: [] }, async (stage) => {
    stage.script.handler = ({ manager }) =>
      manager.query(`DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$`);
    expectProblem(await stage.send(), 'idempotency-work-conflict', { retryAfter: 1 });
    await expectNothingLeft(stage);
  }),
  problem('idempotency-store-unavailable', NOTHING_HAPPENED, async ({ url, start }) => {
    const { send } = await start({ url: `${url}?options=-c%20default_transaction_read_only%3Don` });
    expectProblem(await send(), 'idempotency-store-unavailable', { retryAfter: 1 });
  }),
  problem('idempotency-shutting-down', PAID_ONCE, async ({ start }) => {
    const { app, begin, send } = await start({});
    const first = await begin();
    const closed = app.close();
    await app.closing;
    expectProblem(await send(), 'idempotency-shutting-down', { retryAfter: 1 });
    expectPaid(await first.finish());
    await closed;
  }),
  {
    when: 'the module names what types begin with (`problemTypeBase`)',
    ends: NOTHING_HAPPENED,
    play: async ({ start }) => {
      const typeBase = 'https://shop.test/problems#';
      const { send } = await start({ idempotency: { problemTypeBase: typeBase } });
      expectProblem(await send({ key: null }), 'idempotency-key-missing', { typeBase });
    },
  },
  {
    when: 'the path of the request has a query',
    ends: NOTHING_HAPPENED,
    play: async ({ send }) => {
      const answer = await send({ path: `/items/1?token=${SECRET}`, key: null });
      expectProblem(answer, 'idempotency-key-missing');
      expect(answer.json().instance).toBe('/items/1');
    },
  },
  {
    when: 'requests that differ from the recorded one in little or in much',
    ends: PAID_ONCE,
    play: async ({ run, send, sql }) => {
      expectPaid(await send({ body: `{"amount":100,"card":"${SECRET}"}` }));
      const others = [`{"amount":101,"card":"${SECRET}"}`, `{"amount":100,"card":"stolen"}`, '{}', '[[["other"]]]'];
      const answers: string[] = [];
      for (const body of others) {
        const answer = await send({ body });
        expectProblem(answer, 'idempotency-key-reused');
        answers.push(answer.payload.toString());
      }
      expect(new Set(answers).size).toBe(1);
      const [row] = await sql(`SELECT encode(fingerprint, 'hex') AS hex FROM idempotency_records WHERE key = $1`, run);
      for (const hidden of [run, SECRET, 'amount', 'card', String(row!.hex).slice(2, 18)]) {
        expect(answers[0]!.toLowerCase()).not.toContain(hidden);
      }
    },
  },
  {
    when: 'a refusal of a request whose operation is recorded',
    ends: PAID_ONCE,
    play: async ({ script, send, records }) => {
      expectPaid(await send({ path: '/authorized' }));
      const before = await records();
      expectProblem(await send({ path: '/authorized', body: '{}' }), 'idempotency-key-reused');
      script.authorizeReplay = () => false;
      expectProblem(await send({ path: '/authorized' }), 'idempotency-replay-forbidden');
      expect(await records()).toEqual(before);
    },
  },
  {
    when: "a problem of the library, where `errors` would say 'record'",
    ends: { entries: 1, payments: 0, records: [] },
    play: async ({ script, start }) => {
      const stage = await start({ idempotency: { errors: () => 'record' } });
      script.handler = ({ manager }) => manager.query('ROLLBACK');
      expectProblem(await stage.send(), 'idempotency-work-broken');
      await expectNothingLeft(stage);
    },
  },
  {
    when: 'a filter of the application renders the refusals of the library',
    ...rendering(async ({ begin, send }, seen) => {
      const first = await begin();
      const answer = await send();
      expect(statusLine(answer)).toBe('409 Conflict');
      expect(answer.json()).toEqual({ error: 'idempotency-request-in-progress' });
      const [exception, ...others] = seen;
      expect(others).toEqual([]);
      expect(exception).toBeInstanceOf(HttpException);
      const { retryAfter } = exception!.problem;
      expect(linesOf(answer, ['etag'])).toEqual(['cache-control: no-store', JSON_LINE, `retry-after: ${retryAfter}`]);
      expectPaid(await first.finish());
    }, PAID_ONCE),
  },
  {
    when: 'a filter of the application passes on what stands in the exception',
    ends: NOTHING_HAPPENED,
    play: async ({ start }) => {
      @Catch(HttpException)
      class PassingOn implements ExceptionFilter<HttpException> {
        catch(exception: HttpException, host: ArgumentsHost): void {
          const reply = host.switchToHttp().getResponse<Reply>();
          reply.status(exception.getStatus()).send(exception.getResponse());
        }
      }
      const { send } = await start({ providers: [{ provide: APP_FILTER, useClass: PassingOn }] });
      expectProblem(await send({ key: null }), 'idempotency-key-missing');
    },
  },
  {
    when: 'an answer was ready, and then its claim turns out to be lost',
    ...rendering(async (stage, seen) => {
      stage.script.handler = ({ reply, paid }) => {
        reply.header('Set-Cookie', 'paid=1').header('X-Receipt', 'A-1').header('Location', '/payments/1');
        return paid;
      };
      const first = await stage.begin({ path: '/passthrough' });
      await stage.lapse();
      const second = await stage.begin({ path: '/passthrough' });
      await expectInProgress(stage, () => first.finish());
      expect(seen).toEqual([]);
      expect((await second.finish()).json()).toEqual({ paid: stage.run, entry: 2 });
    }, PAID_BY_RETRY),
  },
];
