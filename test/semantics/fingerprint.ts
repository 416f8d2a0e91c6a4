import { createHash } from 'node:crypto';
import { HttpException } from '@nestjs/common';
import { expect } from '@jest/globals';
import { expectAnswer, expectPaid, expectProblem, expectReplay, statusLine } from './expectations.js';
import { type Fate, throwing } from './fates.js';
import type { Sending } from './request.js';
import { NOTHING_HAPPENED, PAID_ONCE, type Situation } from './situation.js';

/** All of these ask for the same as the first. */
const equal = (first: Sending, ...others: Sending[]): Fate => ({
  ends: PAID_ONCE,
  play: async ({ send }) => {
    const answer = await send(first);
    expectPaid(answer);
    for (const other of others) expectReplay(await send(other), answer);
  },
});

/** None of these asks for the same as the first. */
const different = (first: Sending, ...others: Sending[]): Fate => ({
  ends: PAID_ONCE,
  play: async ({ send }) => {
    const answer = await send(first);
    expectPaid(answer);
    for (const other of others) expectProblem(await send(other), 'idempotency-key-reused');
    expectReplay(await send(first), answer);
  },
});

/** The first is asked; the rest of `same` are its retries, and `others` are not. */
const both = (path: string, [first, ...same]: readonly string[], others: readonly string[]): Fate => ({
  ends: PAID_ONCE,
  play: async ({ send }) => {
    const answer = await send({ path, body: first! });
    expectPaid(answer);
    for (const body of same) expectReplay(await send({ path, body }), answer);
    for (const body of others) expectProblem(await send({ path, body }), 'idempotency-key-reused');
  },
});

/** A form with one file. */
function form(boundary: string, content: string): Pick<Required<Sending>, 'type' | 'body'> {
  const head = 'Content-Disposition: form-data; name="file"; filename="receipt.txt"';
  const body = `--${boundary}\r\n${head}\r\n\r\n${content}\r\n--${boundary}--\r\n`;
  return { type: `multipart/form-data; boundary=${boundary}`, body };
}

function digestOf(content: string): string {
  return `Content-Digest: sha-256=:${createHash('sha256').update(content).digest('base64')}:`;
}

const SHOP_TYPE = 'application/vnd.shop+json';
const BYTES_TYPE = 'application/octet-stream';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

export const fingerprint: readonly Situation[] = [
  {
    when: 'another value in the query',
    ...different({ path: '/plain?a=1' }, { path: '/plain?a=2' }, { path: '/plain' }),
  },
  {
    when: 'the names of the query in another order',
    ...equal({ path: '/plain?a=1&b=2' }, { path: '/plain?b=2&a=1' }, { path: '/plain?%62=2&a=%31' }),
  },
  {
    when: 'the values of one name of the query in another order',
    ...different({ path: '/plain?a=1&a=2' }, { path: '/plain?a=2&a=1' }),
  },
  { when: 'another media type', ...different({ type: 'application/json' }, { type: SHOP_TYPE }) },
  {
    when: 'the same media type with parameters, or in another case',
    ...equal({ type: 'application/json' }, { type: 'application/json; charset=utf-8' }, { type: 'Application/JSON' }),
  },
  {
    when: 'other headers: `Authorization`, `Date`, `User-Agent`, `Accept`, trace ids',
    ...equal(
      {},
      { lines: ['Authorization: Bearer refreshed', 'Date: Mon, 02 Nov 2026 10:00:00 GMT', 'User-Agent: other/2.0'] },
      {
        lines: [
          'Accept: text/html',
          'X-Request-Id: 7',
          'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        ],
      },
    ),
  },
  {
    when: 'JSON with another value',
    ...different(
      { body: '{"amount":100}' },
      { body: '{"amount":101}' },
      { body: '{"amount":"100"}' },
      { body: '{"amount":100,"tip":null}' },
    ),
  },
  {
    when: 'JSON with its members in another order, or spaced or escaped in another way',
    ...equal(
      { body: '{"amount":100,"to":"bob"}' },
      { body: '{"to":"bob","amount":100}' },
      { body: ' { "amount" : 1e2 ,\n"to": "\\u0062ob" } ' },
    ),
  },
  { when: 'JSON with the items of a list in another order', ...different({ body: '[1,2]' }, { body: '[2,1]' }) },
  {
    when: 'JSON with two numbers that are the same to the handler',
    ...equal(
      { body: '{"n":9007199254740992}' },
      { body: '{"n":9007199254740993}' },
      { body: '{"n":9007199254740992.0}' },
    ),
  },
  { when: 'JSON with `-0` and with `0`', ...different({ body: '{"n":-0}' }, { body: '{"n":0}' }) },
  {
    when: 'JSON with a number beyond every double, such as `1e400`, and null',
    ...different({ body: '{"n":1e400}' }, { body: '{"n":null}' }, { body: '{"n":-1e400}' }, { body: '{"n":0}' }),
  },
  {
    when: 'JSON with a number beyond double precision, and null',
    ...different({ body: '{"n":123456789012345678901234567890}' }, { body: '{"n":null}' }),
  },
  {
    when: 'JSON with a member named `__proto__`',
    ...different(
      { type: SHOP_TYPE, body: '{"__proto__":{"amount":100}}' },
      { type: SHOP_TYPE, body: '{"__proto__":{"amount":101}}' },
      { type: SHOP_TYPE, body: '{}' },
    ),
  },
  { when: 'JSON nested 512 levels deep', ...equal({ body: nested(512) }, { body: nested(512) }) },
  {
    when: 'JSON nested deeper than 512 levels',
    ends: NOTHING_HAPPENED,
    play: async ({ send }) => {
      for (const levels of [513, 20_000]) {
        expectProblem(await send({ body: nested(levels) }), 'idempotency-payload-invalid', { reason: 'depth' });
      }
    },
  },
  {
    when: 'a form with its fields in another order',
    ...equal(
      { type: 'application/x-www-form-urlencoded', body: 'amount=100&to=bob' },
      { type: 'application/x-www-form-urlencoded', body: 'to=%62ob&amount=100' },
    ),
  },
  {
    when: 'a form with another value',
    ...different(
      { type: 'application/x-www-form-urlencoded', body: 'amount=100&to=bob' },
      { type: 'application/x-www-form-urlencoded', body: 'amount=100&to=eve' },
    ),
  },
  {
    when: 'text',
    ...different(
      { type: 'text/plain', body: '{"a":1}' },
      { type: 'text/plain', body: '{"a": 1}' },
      { type: 'text/plain', body: '{"a":1}\n' },
    ),
  },
  {
    when: 'bytes',
    ...different(
      { type: BYTES_TYPE, body: Buffer.of(0, 255) },
      { type: BYTES_TYPE, body: Buffer.of(255, 0) },
      { type: BYTES_TYPE, body: Buffer.of(0) },
    ),
  },
  { when: 'no body, `{}`, and `null`', ...different({ body: '{}' }, { body: 'null' }, { body: null }) },
  {
    when: 'a body that nobody has parsed',
    ends: NOTHING_HAPPENED,
    play: async ({ platform, send }) => {
      const answer = await send({ type: 'application/x-unknown' });
      if (platform === 'express') expectProblem(answer, 'idempotency-payload-unsupported');
      else expect(statusLine(answer)).toBe('415 Unsupported Media Type');
    },
  },
  {
    when: 'multipart, at a route that takes the files later',
    ends: NOTHING_HAPPENED,
    play: async ({ send }) => {
      expectProblem(await send({ path: '/uploads', ...form('x', 'receipt') }), 'idempotency-payload-unsupported');
    },
  },
  {
    when: 'multipart with a `Content-Digest`',
    ends: PAID_ONCE,
    play: async ({ script, send }) => {
      const uploaded: unknown[] = [];
      script.handler = ({ body, paid }) => {
        uploaded.push(body.content);
        return paid;
      };
      const upload = { path: '/uploads', ...form('x', 'receipt'), lines: [digestOf('receipt')] };
      const first = await send(upload);
      expectPaid(first);
      expectReplay(await send(upload), first);
      expectReplay(await send({ ...upload, ...form('other-boundary', 'receipt') }), first);
      expectProblem(await send({ ...upload, lines: [digestOf('other')] }), 'idempotency-key-reused');
      expect(uploaded).toEqual([form('x', 'receipt').body]);
    },
  },
  {
    when: 'multipart, where a function says what was asked',
    ends: PAID_ONCE,
    play: async ({ script, send }) => {
      const upload = { path: '/asking-uploads', ...form('x', 'receipt') };
      script.asked = () => 'receipt 1';
      const first = await send(upload);
      expectPaid(first);
      expectReplay(await send({ ...upload, ...form('other-boundary', 'receipt') }), first);
      script.asked = () => 'receipt 2';
      expectProblem(await send(upload), 'idempotency-key-reused');
    },
  },
  {
    when: 'a handler that changes its input',
    ends: PAID_ONCE,
    play: async ({ script, send }) => {
      script.handler = ({ body, paid }) => {
        body.amount = 0;
        return paid;
      };
      const first = await send();
      expectPaid(first);
      expectReplay(await send(), first);
      expectProblem(await send({ body: '{"amount":0}' }), 'idempotency-key-reused');
    },
  },
  {
    when: 'a record whose fingerprint is of a version that is not known here',
    ends: PAID_ONCE,
    play: async ({ run, sql, send }) => {
      const first = await send();
      expectPaid(first);
      const setVersion = (version: number) =>
        sql('UPDATE idempotency_records SET fingerprint = set_byte(fingerprint, 0, $2) WHERE key = $1', run, version);
      await setVersion(200);
      expectProblem(await send(), 'idempotency-store-unavailable', { retryAfter: 1 });
      expectProblem(await send({ body: '{"amount":0}' }), 'idempotency-store-unavailable', { retryAfter: 1 });
      await setVersion(1);
      expectReplay(await send(), first);
    },
  },
  {
    when: 'a header that the endpoint names (`headers`)',
    ends: PAID_ONCE,
    play: async ({ send }) => {
      const versioned = (...versions: string[]): Sending => ({
        path: '/versioned',
        lines: versions.map((version) => `x-api-version: ${version}`),
      });
      const first = await send(versioned('1'));
      expectPaid(first);
      expectReplay(await send({ ...versioned('1'), body: ' {"amount":100}' }), first);
      for (const other of [versioned('2'), versioned(), versioned(''), versioned('1', '1')]) {
        expectProblem(await send(other), 'idempotency-key-reused');
      }
    },
  },
  {
    when: 'parts of the body that the endpoint picks (`pick`)',
    ...both(
      '/picking',
      ['{"amount":1,"to":{"account":"a"},"at":1}', '{"to":{"account":"a","name":"Ada"},"amount":1.0,"at":2}'],
      ['{"amount":2,"to":{"account":"a"},"at":1}', '{"amount":1,"to":{},"at":1}', '{"amount":1,"to":{"account":null}}'],
    ),
  },
  {
    when: 'parts of the body that the endpoint leaves out (`omit`)',
    ...both(
      '/omitting',
      ['{"amount":1,"requestedAt":1,"to":{"traceId":1}}', '{"to":{},"amount":1}'],
      ['{"amount":2,"requestedAt":1,"to":{"traceId":1}}', '{"amount":1,"to":{"name":"Ada"}}'],
    ),
  },
  {
    when: "a body that the endpoint compares as it was sent (`body: 'raw'`)",
    ...both('/signed', ['{"a":1,"b":2}', '{"a":1,"b":2}'], ['{"b":2,"a":1}', '{"a":1, "b":2}', '{"a":1,"b":2.0}']),
  },
  {
    when: 'a body to be compared as it was sent, in an application that does not keep it',
    ends: NOTHING_HAPPENED,
    play: async ({ start }) => {
      const { send } = await start({ rawBody: false });
      expectProblem(await send({ path: '/signed' }), 'idempotency-fingerprint-failed');
    },
  },
  {
    when: 'what a function says was asked',
    ends: PAID_ONCE,
    play: async ({ script, send }) => {
      script.asked = (context) => {
        const { body } = context.switchToHttp().getRequest<{ body: { amount: number } }>();
        return Promise.resolve({ amount: body.amount });
      };
      const asking = (body: string, query = ''): Sending => ({ path: `/asking${query}`, body });
      const first = await send(asking('{"amount":1,"at":1}'));
      expectPaid(first);
      expectReplay(await send(asking('{"at":2,"amount":1.0}', '?a=1')), first);
      expectProblem(await send(asking('{"amount":2,"at":1}')), 'idempotency-key-reused');
    },
  },
  {
    when: 'a function that throws an `HttpException`',
    ends: NOTHING_HAPPENED,
    play: async ({ script, send }) => {
      script.asked = throwing(new HttpException({ body: 'not signed' }, 401)) as () => never;
      expectAnswer(await send({ path: '/asking' }), { line: '401 Unauthorized', body: { body: 'not signed' } });
    },
  },
  {
    when: 'a function that fails, or says nothing that can be compared',
    ends: NOTHING_HAPPENED,
    play: async ({ run, script, send, complaints }) => {
      const failure = new Error(`secret of ${run}`);
      const answers = [
        () => undefined,
        () => 1n,
        () => () => 'a function',
        () => ({ at: new Date(0) }),
        throwing(failure) as () => never,
        () => Promise.reject(failure),
      ];
      for (const asked of answers) {
        script.asked = asked;
        const answer = await send({ path: '/asking' });
        expectProblem(answer, 'idempotency-fingerprint-failed');
        expect(answer.payload.toString()).not.toContain('secret');
      }
      expect(complaints(failure.message)).not.toEqual([]);
    },
  },
  {
    when: 'options of `fingerprint` that cannot be right',
    ends: NOTHING_HAPPENED,
    play: async ({ refusalToStart }) => {
      const fingerprint = { pick: ['/a'], omit: ['/b'] };
      expect(await refusalToStart({ idempotency: { fingerprint } })).toContain(
        '`fingerprint` has both `pick` and `omit`',
      );
    },
  },
];
