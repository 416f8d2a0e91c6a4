import {
  BadGatewayException,
  BadRequestException,
  ConflictException,
  ForbiddenException,
  GoneException,
  HttpException,
  StreamableFile,
  UnprocessableEntityException,
} from '@nestjs/common';
import { expect } from '@jest/globals';
import { catchError, from, map, of } from 'rxjs';
import { circular, failingStreamOf } from '../wire/payloads.js';
import { BODY_LIMIT_BYTES } from './app.js';
import { expectAnswer, expectNothingLeft, expectPaid, expectReplay, statusLine } from './expectations.js';
import {
  brokenOff,
  FAILED,
  type Handler,
  hungUp,
  notEntered,
  recorded,
  refusalKept,
  released,
  type Said,
  throwing,
} from './fates.js';
import { pay, rawOf, type Reply } from './script.js';
import { NOTHING_HAPPENED, PAID_BY_RETRY, PAID_ONCE, type Situation } from './situation.js';
import { HungUp, Mapped } from './surroundings.js';

const PASSTHROUGH = { path: '/passthrough' };
const OWN_RESPONSE = { path: '/own-response' };

const paid =
  (line: string) =>
  (run: string): Said => [line, { paid: run, entry: 1 }];
const empty = (line: string) => (): Said => [line, ''];

const withStatus =
  (status: number): Handler =>
  ({ reply, paid }) => {
    reply.status(status);
    return paid;
  };

const writing =
  (status: number, body: object): Handler =>
  ({ reply }) => {
    reply.status(status).send(body);
  };

/** Refusals that may end by themselves. */
const TRANSIENT = [
  '401 Unauthorized',
  '403 Forbidden',
  '408 Request Timeout',
  '423 Locked',
  '425 Too Early',
  '429 Too Many Requests',
];

export const outcomes: readonly Situation[] = [
  {
    when: 'a guard refuses',
    ...notEntered(['403 Forbidden', { message: 'Forbidden', statusCode: 403 }], (script) => {
      script.guard = () => {
        throw new ForbiddenException();
      };
    }),
  },
  {
    when: 'a throttler refuses',
    ...notEntered(['429 Too Many Requests', { statusCode: 429, message: 'Slow down.' }], (script) => {
      script.guard = (context) => {
        context.switchToHttp().getResponse<Reply>().header('Retry-After', '30');
        throw new HttpException('Slow down.', 429);
      };
    }),
  },
  {
    when: 'there is no such route',
    ends: NOTHING_HAPPENED,
    play: async ({ send }) => expect(statusLine(await send({ path: '/nowhere' }))).toBe('404 Not Found'),
  },
  {
    when: 'the body parser cannot read the body',
    ends: PAID_ONCE,
    play: async (stage) => {
      expect(statusLine(await stage.send({ body: '{"amount":' }))).toBe('400 Bad Request');
      await expectNothingLeft(stage);
      expectPaid(await stage.send());
    },
  },
  {
    when: 'the body is longer than the body parser takes',
    ends: PAID_ONCE,
    play: async (stage) => {
      const body = `{"note":"${'x'.repeat(BODY_LIMIT_BYTES)}"}`;
      expect(statusLine(await stage.send({ body }))).toBe('413 Payload Too Large');
      await expectNothingLeft(stage);
      expectPaid(await stage.send());
    },
  },
  {
    when: 'a pipe refuses, before the handler is entered',
    ...notEntered(
      ['400 Bad Request', { message: 'Bad Request', statusCode: 400 }],
      (script) => {
        script.pipe = () => {
          throw new BadRequestException();
        };
      },
      { path: '/piped' },
    ),
  },
  {
    when: 'a pipe fails, before the handler is entered',
    ...notEntered(
      FAILED,
      (script) => {
        script.pipe = () => Promise.reject(new Error('The pipe fails.'));
      },
      { path: '/piped' },
    ),
  },
  {
    when: 'an interceptor inside the library refuses, before the handler is entered',
    ...notEntered(
      ['422 Unprocessable Entity', { message: 'Unprocessable Entity', statusCode: 422 }],
      (script) => {
        script.inner = () => {
          throw new UnprocessableEntityException();
        };
      },
      { path: '/inner' },
    ),
  },
  { when: 'the handler returns a value', ...recorded(paid('201 Created')) },
  { when: 'the handler returns nothing', ...recorded(empty('201 Created'), () => undefined) },
  {
    when: 'the handler returns text',
    ...recorded(
      () => ['201 Created', 'Gr\u00fc\u00dfe, \u4e16\u754c'],
      () => 'Gr\u00fc\u00dfe, \u4e16\u754c',
    ),
  },
  {
    when: 'the handler returns bytes',
    ends: PAID_ONCE,
    play: async ({ script, send, records }) => {
      const bytes = Buffer.of(0, 1, 0xfe, 0xff);
      script.handler = () => new StreamableFile(bytes);
      const first = await send();
      expect([statusLine(first), first.payload]).toEqual(['201 Created', bytes]);
      expect(await records()).toMatchObject([{ body: bytes }]);
      expectReplay(await send(), first);
    },
  },
  { when: 'the handler chooses another success', ...recorded(paid('202 Accepted'), withStatus(202), PASSTHROUGH) },
  { when: 'the handler answers 204', ...recorded(empty('204 No Content'), undefined, { path: '/no-content' }) },
  { when: 'the handler answers 205', ...recorded(empty('205 Reset Content'), undefined, { path: '/reset-content' }) },
  {
    when: 'the handler redirects',
    ends: PAID_ONCE,
    play: async ({ send, records }) => {
      const first = await send({ path: '/redirect' });
      expect([statusLine(first), first.header('Location')]).toEqual(['303 See Other', '/payments/1']);
      expect(await records()).toMatchObject([{ status: 303, resource: '/payments/1' }]);
      expectReplay(await send({ path: '/redirect' }), first, ['vary: Accept']);
    },
  },
  { when: 'the handler answers 4xx without throwing', ...recorded(paid('409 Conflict'), withStatus(409), PASSTHROUGH) },
  {
    when: 'the handler answers 5xx without throwing',
    ...released(
      ['503 Service Unavailable', { up: false }],
      ({ reply }) => {
        reply.status(503);
        return { up: false };
      },
      PASSTHROUGH,
    ),
  },
  {
    when: 'a handler with `@Res()` writes its answer',
    ...recorded(() => ['201 Created', { written: true }], writing(201, { written: true }), OWN_RESPONSE),
  },
  {
    when: 'a handler with `@Res()` writes a 4xx',
    ...recorded(() => ['404 Not Found', { found: false }], writing(404, { found: false }), OWN_RESPONSE),
  },
  {
    when: 'a handler with `@Res()` writes a 5xx',
    ...released(['500 Internal Server Error', { up: false }], writing(500, { up: false }), OWN_RESPONSE),
  },
  {
    when: 'an interceptor outside the library changes the value',
    ends: PAID_ONCE,
    play: async ({ run, script, send }) => {
      script.outer = (next) => next.handle().pipe(map((value: unknown) => (value ? { wrapped: value } : value)));
      const first = await send();
      expectAnswer(first, { line: '201 Created', body: { wrapped: { paid: run, entry: 1 } } });
      expectReplay(await send(), first);
    },
  },
  { when: 'the handler returns what cannot be written as JSON', ...released(FAILED, () => circular) },
  {
    when: 'the view of the handler cannot be rendered',
    ends: { entries: 2, payments: 0, records: [] },
    play: async (stage) => {
      for (const _ of ['first', 'retry']) {
        expect(statusLine(await stage.send({ path: '/rendered' }))).toBe('500 Internal Server Error');
        await expectNothingLeft(stage);
      }
    },
  },
  {
    when: 'an interceptor outside the library makes a refusal of the success',
    ends: PAID_BY_RETRY,
    play: async (stage) => {
      stage.script.outer = (next) => next.handle().pipe(map(throwing(new GoneException()) as () => never));
      const body = { message: 'Gone', statusCode: 410 };
      expectAnswer(await stage.send(), { line: '410 Gone', body });
      await expectNothingLeft(stage);
      delete stage.script.outer;
      expectPaid(await stage.send(), 2);
    },
  },
  {
    when: 'an interceptor inside the library answers in place of the handler',
    ends: { entries: 0, payments: 1, records: ['completed'] },
    play: async ({ run, script, send }) => {
      script.inner = (_, manager) => from(pay(manager, run).then(() => ({ cached: true })));
      const first = await send({ path: '/inner' });
      expectAnswer(first, { line: '201 Created', body: { cached: true } });
      delete script.inner;
      expectReplay(await send({ path: '/inner' }), first);
    },
  },
  {
    when: 'an interceptor inside the library makes a success of the failure',
    ends: PAID_ONCE,
    play: async ({ script, send }) => {
      script.handler = throwing(new Error('The handler fails.'));
      script.inner = (next) => next.handle().pipe(catchError(() => of({ queued: true })));
      const first = await send({ path: '/inner' });
      expectAnswer(first, { line: '201 Created', body: { queued: true } });
      expectReplay(await send({ path: '/inner' }), first);
    },
  },
  {
    when: 'the handler throws, and a filter answers below 400',
    ...released(['200 OK', { done: 'already' }], throwing(new Mapped(200, { done: 'already' }))),
  },
  {
    when: 'a streamed body breaks off',
    ...brokenOff(() => new StreamableFile(failingStreamOf('one,', 'two,'))),
  },
  {
    when: 'a handler with `@Res()` throws after it has written a part',
    ...brokenOff(({ reply }) => {
      rawOf(reply).write('a part');
      throw new GoneException();
    }, OWN_RESPONSE),
  },
  {
    when: 'a handler with `@Res()` closes the connection',
    ...hungUp(({ reply }) => {
      rawOf(reply).destroy();
    }, OWN_RESPONSE),
  },
  {
    when: 'the handler throws a 4xx',
    ...refusalKept(
      ['422 Unprocessable Entity', { message: 'No funds.', error: 'Unprocessable Entity', statusCode: 422 }],
      throwing(new UnprocessableEntityException('No funds.')),
    ),
  },
  {
    when: 'the handler throws a 409',
    ...refusalKept(
      ['409 Conflict', { message: 'Paid already.', error: 'Conflict', statusCode: 409 }],
      throwing(new ConflictException('Paid already.')),
    ),
  },
  {
    when: 'the handler throws an error of its own, and a filter answers 4xx',
    ...refusalKept(['402 Payment Required', { funds: 0 }], throwing(new Mapped(402, { funds: 0 }))),
  },
  {
    when: 'the handler throws an object that Nest answers with the 4xx that stands in it',
    ...refusalKept(
      ["418 I'm a Teapot", { statusCode: 418, message: 'Short and stout.' }],
      throwing({ statusCode: 418, message: 'Short and stout.' }),
    ),
  },
  ...TRANSIENT.map((line) => {
    const statusCode = Number(line.slice(0, 3));
    const fate = released(
      [line, { statusCode, message: 'Not now.' }],
      throwing(new HttpException('Not now.', statusCode)),
    );
    return { when: `the handler throws a ${statusCode}`, ...fate };
  }),
  {
    when: 'the handler throws an error of its own, and a filter answers with one of those',
    ...released(['423 Locked', { locked: true }], throwing(new Mapped(423, { locked: true }))),
  },
  {
    when: 'the handler throws a 5xx',
    ...released(['502 Bad Gateway', { message: 'Bad Gateway', statusCode: 502 }], throwing(new BadGatewayException())),
  },
  { when: 'the handler throws an error', ...released(FAILED, throwing(new Error('The handler fails.'))) },
  { when: 'the handler throws text', ...released(FAILED, throwing('The handler fails.')) },
  { when: 'the handler throws null', ...released(FAILED, throwing(null)) },
  { when: 'the handler throws undefined', ...released(FAILED, throwing(undefined)) },
  { when: 'the handler throws an object', ...released(FAILED, throwing({ reason: 'The handler fails.' })) },
  {
    when: 'the handler throws an error of its own, and a filter answers 5xx',
    ...released(['503 Service Unavailable', { up: false }], throwing(new Mapped(503, { up: false }))),
  },
  { when: 'the handler throws, and a filter closes the connection', ...hungUp(throwing(new HungUp())) },
];
