import { Readable } from 'node:stream';
import {
  Controller,
  Post,
  Redirect,
  RequestTimeoutException,
  StreamableFile,
  UnprocessableEntityException,
} from '@nestjs/common';
import { expect } from '@jest/globals';
import { Idempotent } from 'nestjs-idempotency';
import { defer, map, raceWith } from 'rxjs';
import { eventually, gate } from '../wire/gate.js';
import { streamOf } from '../wire/payloads.js';
import {
  expectAnswer,
  expectInProgress,
  expectNothingLeft,
  expectPaid,
  expectProblem,
  expectReplay,
} from './expectations.js';
import { type Fate, type Handler, throwing } from './fates.js';
import type { Answer, Sending } from './request.js';
import type { Script } from './script.js';
import { NOTHING_HAPPENED, PAID_BY_RETRY, PAID_ONCE, REFUSAL_KEPT, type Situation } from './situation.js';
import type { Begun, Stage } from './stage.js';

const TIMED_OUT = { line: '408 Request Timeout', body: { message: 'Request Timeout', statusCode: 408 } };

const JSON_LINE = 'content-type: application/json; charset=utf-8';
const REPLAYED_LINE = 'idempotent-replayed: true';

/** Stands outside the library, and answers in the place of whoever is at work when it is told to. */
function impatientOutside(script: Script): () => void {
  const { passed, open } = gate();
  const outOfTime = defer(() => passed).pipe(map(throwing(new RequestTimeoutException()) as () => never));
  script.outer = (next) => next.handle().pipe(raceWith(outOfTime));
  return () => {
    open();
    delete script.outer;
  };
}

/** A request whose client has been answered by an outer timeout, while its handler is inside. */
async function timedOut({ script, begin }: Stage, sending: Sending): Promise<Begun> {
  const interfere = impatientOutside(script);
  const first = await begin(sending);
  interfere();
  expectAnswer(await first.answered(), TIMED_OUT);
  return first;
}

/** Work whose client was answered by somebody else, and that then returns this. */
const late = (sending: Sending, handler: Handler, expectRetry: (retry: Answer, stage: Stage) => unknown): Fate => ({
  ends: PAID_ONCE,
  play: async (stage) => {
    stage.script.handler = handler;
    const first = await timedOut(stage, sending);
    first.letGo();
    expect(await stage.recorded()).toMatchObject({ status: 201 });
    await expectRetry(await stage.send(sending), stage);
  },
});

const LATE_VALUE = { path: '/late-value' };

/** Sends a request, and leaves when it is inside. */
async function leave({ script, open }: Stage, sending: Sending, inside: Promise<void>): Promise<void> {
  const socket = await open(sending);
  await inside;
  socket.destroy();
  await eventually('the server notices that the client left', () => script.closings > 0);
}

function expectReplayedPaid(retry: Answer): void {
  const body = { paid: retry.run, entry: 1 };
  expectAnswer(retry, { line: '201 Created', body, lines: [JSON_LINE, REPLAYED_LINE] });
}

export const strangers: readonly Situation[] = [
  {
    when: 'an outer timeout answers while the handler runs',
    ends: PAID_ONCE,
    play: async (stage) => {
      const first = await timedOut(stage, {});
      expect(await stage.records()).toMatchObject([{ state: 'in_progress', status: null }]);
      await expectInProgress(stage, () => stage.send());
      first.letGo();
      await stage.recorded();
    },
  },
  {
    when: 'the handler that was answered for returns',
    ...late(
      {},
      ({ paid }) => paid,
      async (retry, { records }) => {
        expectProblem(retry, 'idempotency-response-unavailable');
        expect(await records()).toMatchObject([{ status: 201, headers: '[]', body: null, omitted: 'not_seen' }]);
      },
    ),
  },
  {
    when: 'the handler that was answered for throws a 4xx',
    ends: PAID_BY_RETRY,
    play: async (stage) => {
      stage.script.handler = ({ entry, paid }) => {
        if (entry === 1) throw new RequestTimeoutException();
        return paid;
      };
      const first = await timedOut(stage, {});
      first.letGo();
      await stage.released();
      await expectNothingLeft(stage);
      expectPaid(await stage.send(), 2);
    },
  },
  {
    when: 'the handler that was answered for chooses a 5xx',
    ends: PAID_BY_RETRY,
    play: async (stage) => {
      stage.script.handler = ({ entry, paid, reply }) => {
        if (entry === 1) reply.status(502);
        return paid;
      };
      const first = await timedOut(stage, { path: '/passthrough' });
      first.letGo();
      await stage.released();
      await expectNothingLeft(stage);
      expectPaid(await stage.send({ path: '/passthrough' }), 2);
    },
  },
  {
    when: "the handler that was answered for returns an object, under `lateAnswer: 'value'`",
    ...late(LATE_VALUE, ({ paid }) => paid, expectReplayedPaid),
  },
  {
    when: "the handler that was answered for returns text, under `lateAnswer: 'value'`",
    ...late(
      LATE_VALUE,
      () => 'paid',
      (retry, { platform }) => {
        const type = platform === 'express' ? 'text/html' : 'text/plain';
        const lines = [`content-type: ${type}; charset=utf-8`, REPLAYED_LINE];
        expectAnswer(retry, { line: '201 Created', body: 'paid', lines });
      },
    ),
  },
  {
    when: "the handler that was answered for returns nothing, under `lateAnswer: 'value'`",
    ...late(
      LATE_VALUE,
      () => undefined,
      (retry) => expectAnswer(retry, { line: '201 Created', body: '', lines: [REPLAYED_LINE] }),
    ),
  },
  {
    when: "the handler that was answered for returns a stream, under `lateAnswer: 'value'`",
    ...late(
      LATE_VALUE,
      () => new StreamableFile(streamOf('a', 'b')),
      (retry) => expectProblem(retry, 'idempotency-response-unavailable'),
    ),
  },
  {
    when: "`lateAnswer: 'value'` on a handler that does not answer with what it returns",
    ends: NOTHING_HAPPENED,
    play: async ({ refusalToStart }) => {
      @Controller('refused-late-value')
      class Redirecting {
        @Post()
        @Redirect('/payments/1')
        @Idempotent({ lateAnswer: 'value' })
        go(): void {}
      }
      expect(await refusalToStart({ controllers: [Redirecting] })).toContain(
        '\n  - Redirecting.go does not answer with',
      );
    },
  },
  {
    when: 'an outer timeout answers while pipes run',
    ends: PAID_ONCE,
    play: async (stage) => {
      const { script, send } = stage;
      const [inside, go] = [gate(), gate()];
      script.pipe = async () => {
        inside.open();
        await go.passed;
      };
      const interfere = impatientOutside(script);
      const answering = send({ path: '/piped' });
      await inside.passed;
      interfere();
      expectAnswer(await answering, TIMED_OUT);
      await stage.released();
      await expectNothingLeft(stage);
      go.open();
      expectPaid(await send({ path: '/piped', body: '{"amount":1}' }));
    },
  },
  {
    when: 'the client leaves before the handler is entered',
    ends: PAID_ONCE,
    play: async (stage) => {
      const [inside, go] = [gate(), gate()];
      stage.script.pipe = async () => {
        inside.open();
        await go.passed;
      };
      await leave(stage, { path: '/piped' }, inside.passed);
      go.open();
      await stage.recorded();
      expectReplayedPaid(await stage.send({ path: '/piped' }));
    },
  },
  {
    when: 'the client leaves while the handler runs',
    ends: PAID_ONCE,
    play: async ({ begin, recorded, send }) => {
      const first = await begin();
      await first.hangUp();
      first.letGo();
      await recorded();
      expectReplayedPaid(await send());
    },
  },
  {
    when: 'the client leaves while the handler runs, which then throws a 4xx',
    ends: REFUSAL_KEPT,
    play: async ({ script, begin, recorded, send }) => {
      script.handler = throwing(new UnprocessableEntityException());
      const first = await begin();
      await first.hangUp();
      first.letGo();
      await recorded();
      const body = { message: 'Unprocessable Entity', statusCode: 422 };
      expectAnswer(await send(), { line: '422 Unprocessable Entity', body, lines: [JSON_LINE, REPLAYED_LINE] });
    },
  },
  {
    when: 'the client leaves while a body is streamed',
    ends: PAID_ONCE,
    play: async (stage) => {
      const [inside, go] = [gate(), gate()];
      async function* pieces() {
        yield 'first,';
        inside.open();
        await go.passed;
        yield 'second';
      }
      stage.script.handler = () => new StreamableFile(Readable.from(pieces(), { objectMode: false }));
      await leave(stage, {}, inside.passed);
      expect(await stage.recorded()).toMatchObject({ status: 201, body: null, omitted: 'client_left' });
      go.open();
      expectProblem(await stage.send(), 'idempotency-response-unavailable');
    },
  },
  {
    when: 'a handler with `@Res()` returns without an answer, and the connection closes',
    ends: { entries: 1, payments: 0, records: [] },
    play: async (stage) => {
      stage.script.handler = () => undefined;
      const first = await stage.begin({ path: '/own-response' });
      first.letGo();
      await first.hangUp();
      await stage.released();
    },
  },
  {
    when: 'an interceptor outside the library fails while a replay comes by',
    ends: PAID_ONCE,
    play: async ({ script, send }) => {
      const first = await send();
      script.outer = (next) => next.handle().pipe(map((value) => (value as { paid: string }).paid));
      expectReplay(await send(), first);
    },
  },
];
