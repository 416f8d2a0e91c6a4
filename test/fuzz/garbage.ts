import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { bodies, encoded } from './bodies.js';
import { keyLines, type Line } from './keys.js';
import type { Message } from './message.js';
import { requestLines } from './targets.js';

const contentTypes: fc.Arbitrary<readonly Line[]> = fc
  .oneof(
    {
      weight: 8,
      arbitrary: fc.constantFrom(
        ['application/json'],
        ['application/json'],
        ['application/x-www-form-urlencoded'],
        ['text/plain'],
        ['application/octet-stream'],
      ),
    },
    {
      weight: 2,
      arbitrary: fc.constant(['multipart/form-data; boundary=x']),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom<string[]>(
        [],
        ['application/json; charset=utf-16'],
        ['application/json; charset=nonsense'],
        ['application/json;charset="utf-8'],
        ['APPLICATION/JSON ; a=b'],
        ['application/problem+json'],
        ['text/plain; charset=latin1'],
        ['application/x-www-form-urlencoded; charset=iso-8859-1'],
        ['multipart/form-data'],
        ['multipart/'],
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        [''],
        [';'],
        ['/'],
        ['a/b/c'],
        ['application/'],
        ['json'],
        ['*/*'],
        ['application/json, text/plain'],
        ['application/json', 'text/plain'],
        ['\u00ff/\u00ff'],
        [`a/${'b'.repeat(5_000)}`],
        ['__proto__'],
      ),
    },
  )
  .map((types) => types.map((type): Line => ['Content-Type', type]));

const digests = (body: Buffer): fc.Arbitrary<readonly Line[]> => {
  const sha256 = createHash('sha256').update(body).digest('base64');
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(
          [`sha-256=:${sha256}:`],
          [`sha-256=:${sha256}:`, `sha-256=:${sha256}:`],
          ['sha-256=::'],
          ['sha-256=:a:'],
          ['sha-256=:\u00fc:'],
          ['sha-256'],
          ['sha-256="a"'],
          ['sha-256=(:YQ==:)'],
          ['md5=:YQ==:'],
          [''],
          [','],
          ['='],
          [`sha-512=:${'A'.repeat(86)}==:`],
          [`sha-512=:${'A'.repeat(8_000)}:`],
        )
        .map((values) => values.map((value): Line => ['Content-Digest', value])),
    },
  );
};

interface Framed {
  readonly lines: readonly Line[];
  readonly payload: Buffer;
  readonly isEndless: boolean;
}

/** The ways to say how long a body is, true ones and others. */
function framed(content: Buffer): fc.Arbitrary<Framed> {
  const { length } = content;
  const declared = (value: string | number, isEndless = false): Framed => ({
    lines: [['Content-Length', String(value)]],
    payload: content,
    isEndless,
  });
  const chunked = (text: string, isEndless = false, coding = 'chunked'): Framed => ({
    lines: [['Transfer-Encoding', coding]],
    payload: Buffer.from(text, 'latin1'),
    isEndless,
  });
  const chunk = `${length.toString(16)}\r\n${content.toString('latin1')}\r\n`;
  const whole = length === 0 ? '0\r\n\r\n' : `${chunk}0\r\n\r\n`;
  return fc.oneof(
    { weight: 18, arbitrary: fc.constant(declared(length)) },
    { weight: 6, arbitrary: fc.constant(chunked(whole)) },
    {
      weight: 2,
      arbitrary: fc.constantFrom<Framed>(
        { lines: [], payload: content, isEndless: true },
        declared(length + 5, true),
        declared(Math.max(length - 1, 0), true),
        declared(`00${length}`, true),
        chunked(chunk, true),
        chunked(`${length.toString(16)};a=b\r\n${content.toString('latin1')}\r\n0\r\nX-Trailer: a\r\n\r\n`, true),
        chunked('zz\r\n', true),
        chunked('', true),
        chunked(whole, true, 'Chunked'),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Framed>(
        ...['', '-1', '+5', '0x5', '5, 5', '1e3', 'a', '9'.repeat(30)].map((value) => declared(value, true)),
        ...['identity', 'gzip, chunked', 'chunked, chunked', 'chunked, gzip', '', 'x'].map((coding) =>
          chunked(whole, true, coding),
        ),
        { lines: [...declared(length).lines, ...declared(length).lines], payload: content, isEndless: true },
        { lines: [...declared(length).lines, ...chunked(whole).lines], payload: content, isEndless: true },
      ),
    },
  );
}

const others: fc.Arbitrary<readonly Line[]> = fc.array(
  fc.constantFrom<Line>(
    ['Accept', '\u00ff'],
    ['Accept-Encoding', 'gzip, br'],
    ['Authorization', ''],
    ['Cookie', '__proto__=1; a=%zz; =;'],
    ['Expect', '100-continue'],
    ['Expect', 'the-impossible'],
    ['Connection', 'keep-alive, Upgrade'],
    ['Upgrade', 'websocket'],
    ['Host', 'another.test'],
    ['If-None-Match', '*'],
    ['Origin', 'null'],
    ['Prefer', 'respond-async'],
    ['Range', 'bytes=0-1'],
    ['X-Api-Version', '1'],
    ['X-Api-Version', '\u00ff'],
    ['X-Forwarded-For', '::1, a'],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['__proto__', 'a'],
    ['constructor', 'a'],
    ['Trailer', 'Idempotency-Key'],
  ),
  { maxLength: 3, size: 'small' },
);

/** Requests as no client should send them, and some as they should be, so that it does not end at the first check. */
export const garbage: fc.Arbitrary<Message> = fc
  .record({
    content: bodies.chain((body) => fc.tuple(encoded(body), digests(body))),
    line: requestLines,
    heads: fc.tuple(keyLines, contentTypes, others),
    isSplit: fc.integer({ min: 0, max: 5 }).map((of6) => of6 === 5),
  })
  .chain(({ content: [{ coding, content }, digest], line: [method, target], heads, isSplit }) =>
    framed(content).map(({ lines: framing, payload, isEndless }) => {
      const encoding: readonly Line[] = coding === null ? [] : [['Content-Encoding', coding]];
      return {
        method,
        target,
        lines: [...heads.flat(), ...encoding, ...digest, ...framing],
        payload,
        isSplit,
        isEndless,
      };
    }),
  );
