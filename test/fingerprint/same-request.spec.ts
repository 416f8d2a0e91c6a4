import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { useDatabase } from '../wire/database.js';
import { PLATFORMS } from '../wire/wire-app.js';
import { type FingerprintApp, startFingerprintApp } from './fingerprint-app.js';
import type { Message } from './message.js';

const database = useDatabase();

type Headers = NonNullable<Message['headers']>;

const typed = (mediaType: string, body: string | Buffer, more: Headers = []): Message => ({
  target: '/given/1',
  headers: [['Content-Type', mediaType], ...more],
  body,
});
const json = (body: string): Message => typed('application/json', body);
const form = (body: string): Message => typed('application/x-www-form-urlencoded', body);
const asking = (target: string): Message => ({ ...json('{"a":1}'), target });
const NONE: Message = { target: '/given/1' };

type Row = readonly [what: string, one: Message, other: Message];

const SAME: readonly Row[] = [
  ['members in another order', json('{"a":1,"b":{"c":2,"d":3}}'), json('{"b":{"d":3,"c":2},"a":1}')],
  ['other whitespace', json('{"a":[1,2]}'), json('\n{ "a" : [ 1,\t2 ] }\r\n')],
  ['characters escaped or not', json('{"é":"€/\u{1f600}"}'), json('{"\\u00e9":"\\u20AC\\/\\ud83d\\ude00"}')],
  ['a number in another spelling', json('[1,100,0.1]'), json('[1.0,1e2,1E-1]')],
  ['numbers that are one in double precision', json('[9007199254740992]'), json('[9007199254740993]')],
  ['a member given twice, of which the last counts', json('{"a":1}'), json('{"a":2,"a":1}')],
  ['a byte order mark', json('{"a":1}'), json('\ufeff{"a":1}')],
  ['query parameters in another order', asking('/given/1?a=1&b=2&a=3'), asking('/given/1?b=2&a=1&a=3')],
  ['a query encoded otherwise', asking('/given/1?a=%c3%a9+b'), asking('/given/1?%61=%C3%A9%20b')],
  ['a path encoded otherwise', asking('/given/a%2fb'), asking('/given/%61%2Fb')],
  ['another case of the media type', json('{"a":1}'), typed('Application/JSON', '{"a":1}')],
  ['parameters of the media type', json('{"a":1}'), typed('application/json; charset="utf-8"; v=2', '{"a":1}')],
  ['another framing', json('{"a":1}'), { ...json('{"a":1}'), framing: 'chunked' }],
  ['a form encoded otherwise, in another order', form('a=1&b=%C3%A9+x&a=2'), form('b=%c3%a9%20x&a=1&a=2')],
  ['the same text', typed('text/plain', 'é'), typed('text/plain;charset=utf-8', 'é')],
  [
    'the same bytes',
    typed('application/octet-stream', Buffer.of(0, 255)),
    typed('application/octet-stream', Buffer.of(0, 255)),
  ],
  ['the new route of a named operation', asking('/given/moved/1'), asking('/given/moved-here/1')],
  ['no body, said in another way', NONE, { ...NONE, body: '', framing: 'length' }],
  [
    'other credentials, dates, agents, traces and wishes for an answer',
    typed('application/json', '{}', [
      ['Authorization', 'Bearer a'],
      ['Accept', 'text/plain'],
      ['traceparent', '00-1'],
    ]),
    typed('application/json', '{}', [
      ['Authorization', 'Bearer b'],
      ['Date', 'today'],
      ['User-Agent', 'retry'],
    ]),
  ],
];

const OTHER: readonly Row[] = [
  ['another path parameter', asking('/given/1'), asking('/given/2')],
  ['another case of a path parameter', asking('/given/a'), asking('/given/A')],
  ['another query', asking('/given/1?a=1'), asking('/given/1?a=2')],
  ['a query parameter with an empty value', asking('/given/1'), asking('/given/1?a=')],
  ['a query parameter twice', asking('/given/1?a=1'), asking('/given/1?a=1&a=1')],
  ['repeated query parameters in another order', asking('/given/1?a=1&a=2'), asking('/given/1?a=2&a=1')],
  ['another method', { ...json('{}'), method: 'PATCH' }, { ...json('{}'), method: 'DELETE' }],
  ['another media type', json('{}'), typed('application/merge-patch+json', '{}')],
  ['elements in another order', json('[1,2]'), json('[2,1]')],
  ['a number as a string', json('[1]'), json('["1"]')],
  ['another member that only looks the same', json('{"\u00e9":1}'), json('{"e\u0301":1}')],
  ['null for a number beyond double precision', json('[1e400]'), json('[null]')],
  ['the negative of a number beyond double precision', json('[1e400]'), json('[-1e400]')],
  ['zero for minus zero', json('[-0]'), json('[0]')],
  ['null for nothing', json('{"a":null}'), json('{}')],
  ['an array for an object', json('[]'), json('{}')],
  ['a member named __proto__', json('{"__proto__":{"admin":true}}'), json('{}')],
  ['another member inside __proto__', json('{"__proto__":{"a":1}}'), json('{"__proto__":{"a":2}}')],
  [
    'another member inside constructor',
    json('{"constructor":{"prototype":1}}'),
    json('{"constructor":{"prototype":2}}'),
  ],
  ['a form for the same JSON', json('{"a":"1"}'), form('a=1')],
  ['repeated names of a form in another order', form('a=1&a=2'), form('a=2&a=1')],
  ['another text', typed('text/plain', 'a'), typed('text/plain', 'a ')],
  [
    'other bytes that UTF-8 cannot express',
    typed('application/octet-stream', Buffer.of(254)),
    typed('application/octet-stream', Buffer.of(255)),
  ],
  ['no body for an empty object', json('{}'), NONE],
  ['an announced but missing body for an empty object', form('a'), { ...form(''), framing: 'length' }],
  ['no body for null', json('null'), NONE],
  ['null for an empty object', json('null'), json('{}')],
  ['no body for an empty text', typed('text/plain', 'a'), NONE],
];

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: FingerprintApp;

  beforeAll(async () => {
    app = await startFingerprintApp({ platform, url: database.url });
  });

  afterAll(() => app.close());

  describe.each(['this', 'the opposite'])('in %s order', (order) => {
    const inOrder = ([what, one, other]: Row): Row => (order === 'this' ? [what, one, other] : [what, other, one]);

    it.each(SAME.map(inOrder))('replays the first answer to a request with %s', async (_, one, other) => {
      const key = randomUUID();
      const first = await app.send(one, key);
      const retry = await app.send(other, key);
      expect(first.given).toBeDefined();
      expect(retry.given).toBeUndefined();
      expect(retry.isReplay).toBe(true);
      expect(retry.response.status).toBe(first.response.status);
      expect(retry.response.payload).toEqual(first.response.payload);
      expect(await database.witness.rowsOf(key)).toBe(1);
    });

    it.each(OTHER.map(inOrder))('does not take for the first a request with %s', async (_, one, other) => {
      const key = randomUUID();
      const first = await app.send(one, key);
      const second = await app.send(other, key);
      expect(first.given).toBeDefined();
      expect(second.given).toBeUndefined();
      expect(second.response.json()).toMatchObject({ status: 422, code: 'idempotency-key-reused' });
      expect(await database.witness.rowsOf(key)).toBe(1);
      // It is a request of its own, and works under a key of its own.
      expect((await app.send(other, randomUUID())).given).toBeDefined();
    });
  });

  it('knows a retry whatever its handler did to what it was given', async () => {
    const key = randomUUID();
    const message = { ...asking('/given/1/changed?b=2'), body: '{"amount":1,"nested":[1]}' };
    const first = await app.send(message, key);
    expect(first.given).toEqual({ params: { id: '1' }, query: { b: '2' }, body: { amount: 1, nested: [1] } });
    expect((await app.send(message, key)).isReplay).toBe(true);
    const asChanged = { ...message, body: '{"amount":-1,"nested":[1],"changed":true}' };
    expect((await app.send(asChanged, key)).response.status).toBe(422);
    expect(await database.witness.rowsOf(key)).toBe(1);
  });

  it('lets no payload reach a prototype', async () => {
    const members = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    await app.send(json(members), randomUUID());
    await app.send(
      { ...json(members), target: '/given/1?__proto__[polluted]=1&constructor[prototype][polluted]=1' },
      randomUUID(),
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect((Object as unknown as Record<string, unknown>).polluted).toBeUndefined();
  });
});
