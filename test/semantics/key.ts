import { Controller, Get, Head, Injectable, Next, Options, Post, Res, Sse, type Type } from '@nestjs/common';
import { expect } from '@jest/globals';
import { Idempotent } from 'nestjs-idempotency';
import { EMPTY } from 'rxjs';
import { expectAnswer, expectPaid, expectProblem, expectReplay } from './expectations.js';
import type { Fate } from './fates.js';
import type { Sending } from './request.js';
import type { Reply } from './script.js';
import {
  type Ending,
  NOTHING_HAPPENED,
  PAID_BY_EACH,
  PAID_ONCE,
  PAID_UNPROTECTED,
  type Situation,
} from './situation.js';

type Reason = 'empty' | 'too_long' | 'charset' | 'syntax' | 'multiple';

/** Every one of these keys, made from the run, is refused for this reason. */
const refused = (reason: Reason, keys: (run: string) => readonly string[], path = '/plain'): Fate => ({
  ends: NOTHING_HAPPENED,
  play: async ({ run, send }) => {
    for (const key of keys(run)) expectProblem(await send({ path, key }), 'idempotency-key-invalid', { reason });
  },
});

/** Two requests that name the same operation: the second is answered from the record of the first. */
const same = (first: (run: string) => Sending, second: (run: string) => Sending): Fate => ({
  ends: PAID_ONCE,
  play: async ({ run, send }) => {
    const answer = await send(first(run));
    expectPaid(answer);
    expectReplay(await send(second(run)), answer);
  },
});

/** Two requests that name operations of their own, or none. */
const apart = (ends: Ending, first: (run: string) => Sending, second: (run: string) => Sending) => ({
  ends,
  play: async ({ run, send }: Parameters<Situation['play']>[0]) => {
    expectPaid(await send(first(run)));
    expectPaid(await send(second(run)), 2);
  },
});

/** An application with this controller or provider does not start, and says which handler is the reason. */
const refusedAtStart = (kind: 'controllers' | 'providers', type: Type, handler: string): Fate => ({
  ends: NOTHING_HAPPENED,
  play: async ({ refusalToStart }) => {
    const message = await refusalToStart({ [kind]: [type] });
    const [heading, defect, ...others] = message.split('\n');
    expect([heading, others]).toEqual(['@Idempotent() cannot protect:', []]);
    expect(defect).toMatch(new RegExp(`^  - ${type.name}\\.${handler} .+\\. [A-Z]`));
  },
});

@Controller('refused-get')
class OnGet {
  @Get()
  @Idempotent()
  list(): void {}
}

@Controller('refused-head')
class OnHead {
  @Head()
  @Idempotent()
  look(): void {}
}

@Controller('refused-options')
class OnOptions {
  @Options()
  @Idempotent()
  ask(): void {}
}

@Controller('refused-sse')
class OnEvents {
  @Sse()
  @Idempotent()
  stream() {
    return EMPTY;
  }
}

@Controller('refused-next')
class OnNext {
  @Post()
  @Idempotent()
  pass(@Next() next: () => void): void {
    next();
  }
}

@Controller('refused-generator')
class OnGenerator {
  @Post()
  @Idempotent()
  async *count() {
    yield await Promise.resolve(1);
  }
}

@Controller('refused-own-response')
class OnOwnResponse {
  @Post()
  @Idempotent({ required: false })
  write(@Res() reply: Reply): void {
    reply.send();
  }
}

/** What resolvers, gateways and consumers are to Nest: a provider with decorated methods. */
@Injectable()
class OnProvider {
  @Idempotent()
  resolve(): void {}
}

export const key: readonly Situation[] = [
  {
    when: 'no key, where the endpoint requires one (the default)',
    ends: NOTHING_HAPPENED,
    play: async ({ send }) => expectProblem(await send({ key: null }), 'idempotency-key-missing'),
  },
  {
    when: 'no key, and the module names a page about keys (`docsUrl`)',
    ends: NOTHING_HAPPENED,
    play: async ({ start }) => {
      const { send } = await start({ idempotency: { docsUrl: 'https://shop.test/keys' } });
      const link = '<https://shop.test/keys>; rel="help"';
      expectProblem(await send({ key: null }), 'idempotency-key-missing', { link });
    },
  },
  {
    when: 'no key, where none is required (`required: false`)',
    ...apart(
      PAID_UNPROTECTED,
      () => ({ path: '/optional', key: null }),
      () => ({ path: '/optional', key: null }),
    ),
  },
  {
    when: 'no key, where none is required, and the handler fails',
    ends: { entries: 1, payments: 0, records: [] },
    play: async ({ script, send }) => {
      script.handler = () => {
        throw new Error('The handler fails.');
      };
      const body = { statusCode: 500, message: 'Internal server error' };
      expectAnswer(await send({ path: '/optional', key: null }), { line: '500 Internal Server Error', body });
    },
  },
  {
    when: 'a key, where none is required',
    ...same(
      (run) => ({ path: '/optional', key: run }),
      (run) => ({ path: '/optional', key: run }),
    ),
  },
  { when: 'an empty key', ...refused('empty', () => ['', '""']) },
  { when: 'a blank key', ...refused('empty', () => [' \t ', '" "']) },
  { when: 'an empty or blank key, where none is required', ...refused('empty', () => ['', '""', '"  "'], '/optional') },
  {
    when: 'a key of 255 characters',
    ...same(
      (run) => ({ key: run.padEnd(255, 'x') }),
      (run) => ({ key: run.padEnd(255, 'x') }),
    ),
  },
  {
    when: 'a key of 256 characters or more',
    ...refused('too_long', (run) => [run.padEnd(256, 'x'), run.padEnd(5_000, 'x')]),
  },
  {
    when: 'a quoted key of 255 characters, which is 257 with its quotes',
    ...same(
      (run) => ({ key: `"${run.padEnd(255, 'x')}"` }),
      (run) => ({ key: run.padEnd(255, 'x') }),
    ),
  },
  { when: 'a quoted key of 256 characters', ...refused('too_long', (run) => [`"${run.padEnd(256, 'x')}"`]) },
  { when: 'a tab inside the key', ...refused('charset', (run) => [`${run}\tx`, `"${run}\tx"`]) },
  {
    when: 'a control character that HTTP itself forbids in a header',
    ends: NOTHING_HAPPENED,
    play: async ({ run, script, exchange }) => {
      for (const character of ['\0', '\x01', '\x1f', '\x7f']) {
        const bytes = await exchange({ key: `${run}${character}x` });
        expect(bytes.toString()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      }
      expect(script.arrivals).toBe(0);
    },
  },
  {
    when: 'a key that is folded over two lines',
    ends: NOTHING_HAPPENED,
    play: async ({ run, script, exchange }) => {
      const bytes = await exchange({ key: `${run}\r\n x` });
      expect(bytes.toString()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(script.arrivals).toBe(0);
    },
  },
  {
    when: 'characters outside ASCII',
    ...refused('charset', (run) => [`${run}\u00e9`, `"${run}\u00e9"`, `${run}\u00c3\u00a9`]),
  },
  {
    when: 'quotes that do not match',
    ...refused('syntax', (run) => [`"${run}`, `${run}"`, `"${run}"x`, `"${run}\\x"`]),
  },
  { when: 'a list: `a, b`, bare or quoted', ...refused('syntax', (run) => [`${run}, b`, `${run},b`, `"${run}", "b"`]) },
  { when: 'a bare key with a space in it', ...refused('syntax', (run) => [`${run} x`]) },
  {
    when: 'two header lines with a key each',
    ends: NOTHING_HAPPENED,
    play: async ({ run, send }) => {
      const answer = await send({ lines: [`Idempotency-Key: another-${run}`] });
      expectProblem(answer, 'idempotency-key-invalid', { reason: 'multiple' });
    },
  },
  {
    when: 'two header lines with the same key',
    ends: NOTHING_HAPPENED,
    play: async ({ run, send }) => {
      const answer = await send({ lines: [`idempotency-key: ${run}`] });
      expectProblem(answer, 'idempotency-key-invalid', { reason: 'multiple' });
    },
  },
  {
    when: '`abc`, and then `"abc"`',
    ...same(
      (run) => ({ key: run }),
      (run) => ({ key: `"${run}"` }),
    ),
  },
  {
    when: 'a quoted key with spaces, commas or escaped quotes in it',
    ends: PAID_ONCE,
    play: async ({ run, send, records }) => {
      const first = await send({ key: `"${run}, \\"b\\" \\\\ c"` });
      expectPaid(first);
      expect(await records()).toMatchObject([{ key: `${run}, "b" \\ c` }]);
      expectReplay(await send({ key: `"${run}, \\"b\\" \\\\ c"` }), first);
    },
  },
  {
    when: 'a quoted key with parameters: `"abc";v=1`',
    ...same(
      (run) => ({ key: run }),
      (run) => ({ key: `"${run}";v=1` }),
    ),
  },
  {
    when: 'white space around the key',
    ...same(
      (run) => ({ key: run }),
      (run) => ({ key: ` \t${run}\t ` }),
    ),
  },
  {
    when: 'the name of the header in another case',
    ...same(
      (run) => ({ key: run }),
      (run) => ({ key: null, lines: [`iDEMPOTENCY-kEY: ${run}`] }),
    ),
  },
  {
    when: 'the key in another case',
    ...apart(
      PAID_BY_EACH,
      (run) => ({ key: `a-${run}` }),
      (run) => ({ key: `A-${run}` }),
    ),
  },
  {
    when: 'a header of another name (`header`)',
    ends: PAID_ONCE,
    play: async ({ run, start }) => {
      const { send } = await start({ idempotency: { header: 'X-Order' } });
      const first = await send({ key: 'ignored', lines: [`x-order: ${run}`] });
      expectPaid(first);
      expectReplay(await send({ key: null, lines: [`X-Order: ${run}`] }), first);
      expectProblem(await send(), 'idempotency-key-missing');
    },
  },
  {
    when: 'a key from elsewhere (`key: (context) => …`)',
    ends: PAID_ONCE,
    play: async ({ run, send }) => {
      const first = await send({ path: '/keyed', key: null, body: `{"id":"${run}"}` });
      expectPaid(first);
      expectReplay(await send({ path: '/keyed', key: 'ignored', body: `{"id":"${run}"}` }), first);
    },
  },
  {
    when: 'a key from elsewhere that is undefined',
    ends: NOTHING_HAPPENED,
    play: async ({ send }) => expectProblem(await send({ path: '/keyed' }), 'idempotency-key-missing'),
  },
  {
    when: 'a key from elsewhere that is undefined, where none is required',
    ...apart(
      PAID_UNPROTECTED,
      () => ({ path: '/keyed-optional' }),
      () => ({ path: '/keyed-optional' }),
    ),
  },
  {
    when: 'a key from elsewhere that is empty',
    ends: NOTHING_HAPPENED,
    play: async ({ send }) => {
      const expected = { reason: 'empty' };
      expectProblem(await send({ path: '/keyed', body: '{"id":""}' }), 'idempotency-key-invalid', expected);
      expectProblem(await send({ path: '/keyed-optional', body: '{"id":" "}' }), 'idempotency-key-invalid', expected);
    },
  },
  {
    when: 'a key from elsewhere that is too long, not printable ASCII, or no text',
    ends: NOTHING_HAPPENED,
    play: async ({ send }) => {
      const bodies = { too_long: `"${'x'.repeat(256)}"`, charset: '"caf\u00e9"', syntax: '42' };
      for (const [reason, id] of Object.entries(bodies)) {
        expectProblem(await send({ path: '/keyed', body: `{"id":${id}}` }), 'idempotency-key-invalid', { reason });
      }
    },
  },
  {
    when: 'a key from elsewhere, and looking for it fails',
    ends: NOTHING_HAPPENED,
    play: async ({ send }) => {
      const body = { statusCode: 500, message: 'Internal server error' };
      expectAnswer(await send({ path: '/keyed', body: null }), { line: '500 Internal Server Error', body });
      const gone = await send({ path: '/keyed', body: '{"id":"gone"}' });
      expectAnswer(gone, { line: '410 Gone', body: { message: 'Gone', statusCode: 410 } });
    },
  },
  {
    when: 'a key in the header of a route without `@Idempotent()`',
    ...apart(
      PAID_UNPROTECTED,
      () => ({ path: '/undecorated' }),
      () => ({ path: '/undecorated' }),
    ),
  },
  { when: '`@Idempotent()` on a GET handler', ...refusedAtStart('controllers', OnGet, 'list') },
  { when: '`@Idempotent()` on a HEAD handler', ...refusedAtStart('controllers', OnHead, 'look') },
  { when: '`@Idempotent()` on an OPTIONS handler', ...refusedAtStart('controllers', OnOptions, 'ask') },
  { when: '`@Idempotent()` on an `@Sse()` handler', ...refusedAtStart('controllers', OnEvents, 'stream') },
  { when: '`@Idempotent()` on a handler that takes `@Next()`', ...refusedAtStart('controllers', OnNext, 'pass') },
  { when: '`@Idempotent()` on an async generator', ...refusedAtStart('controllers', OnGenerator, 'count') },
  {
    when: '`@Idempotent({ required: false })` on a handler that writes its own response (`@Res()`)',
    ...refusedAtStart('controllers', OnOwnResponse, 'write'),
  },
  {
    when: '`@Idempotent()` on a method of a provider, such as a resolver or a gateway',
    ...refusedAtStart('providers', OnProvider, 'resolve'),
  },
  {
    when: '`@Idempotent()` on an `@All()` handler, and a method that changes nothing',
    ends: PAID_UNPROTECTED,
    play: async ({ run, send }) => {
      const body = { paid: run, entry: 1 };
      expectAnswer(await send({ method: 'GET', path: '/any', key: null, body: null }), { line: '200 OK', body });
      expectAnswer(await send({ method: 'GET', path: '/any', body: null }), {
        line: '200 OK',
        body: { ...body, entry: 2 },
      });
    },
  },
  {
    when: '`@Idempotent()` on an `@All()` handler, and a method that changes something',
    ends: PAID_ONCE,
    play: async ({ run, send }) => {
      expectProblem(await send({ method: 'PATCH', path: '/any', key: null }), 'idempotency-key-missing');
      const first = await send({ method: 'PATCH', path: '/any' });
      expectAnswer(first, { line: '200 OK', body: { paid: run, entry: 1 } });
      expectReplay(await send({ method: 'PATCH', path: '/any' }), first);
    },
  },
  {
    when: '`@Idempotent()` on a class: its handlers that change something',
    ends: PAID_ONCE,
    play: async ({ send }) => {
      expectProblem(await send({ path: '/whole-class', key: null }), 'idempotency-key-missing');
      const first = await send({ path: '/whole-class' });
      expectPaid(first);
      expectReplay(await send({ path: '/whole-class' }), first);
    },
  },
  {
    when: '`@Idempotent()` on a class: its GET, HEAD and OPTIONS handlers',
    ends: PAID_UNPROTECTED,
    play: async ({ run, send }) => {
      const look: Sending = { method: 'GET', path: '/whole-class', body: null };
      const body = { paid: run, entry: 1 };
      expectAnswer(await send({ ...look, key: null }), { line: '200 OK', body });
      expectAnswer(await send(look), { line: '200 OK', body: { ...body, entry: 2 } });
    },
  },
];
