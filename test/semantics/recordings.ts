import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { StreamableFile } from '@nestjs/common';
import { expect } from '@jest/globals';
import { aes256Gcm, type BodyProtection } from 'nestjs-idempotency';
import {
  expectAnswer,
  expectNothingLeft,
  expectPaid,
  expectProblem,
  expectReplay,
  linesOf,
  statusLine,
} from './expectations.js';
import { type Fate, type Handler, throwing } from './fates.js';
import type { Answer } from './request.js';
import { NOTHING_HAPPENED, PAID_ONCE, type Situation } from './situation.js';
import type { Stage } from './stage.js';

const PASSTHROUGH = { path: '/passthrough' };

const JSON_LINE = 'content-type: application/json; charset=utf-8';

/** The line that gives a body away; Express makes one for each. */
const etagOf = (answer: Answer) => linesOf(answer).filter((line) => line.startsWith('etag:'));

/** What speaks of the content, and so belongs to the answer. */
const OF_THE_CONTENT = {
  'Content-Type': 'application/vnd.shop+json; charset=utf-8',
  'Content-Language': 'de',
  'Content-Disposition': 'attachment; filename="receipt.json"',
  'Content-Location': '/receipts/1',
  Location: '/payments/1',
  ETag: '"1"',
  'Last-Modified': 'Mon, 02 Nov 2026 10:00:00 GMT',
  'Cache-Control': 'private, max-age=60',
  'Retry-After': '7',
};

/** What belongs to one exchange, one connection or one caller. */
const OF_THE_EXCHANGE = {
  'WWW-Authenticate': 'Bearer',
  Date: 'Mon, 02 Nov 2026 10:00:00 GMT',
  Age: '3',
  'Keep-Alive': 'timeout=9',
  'X-Request-Id': 'request-1',
  'X-Correlation-Id': 'correlation-1',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'Server-Timing': 'db;dur=5',
  'X-RateLimit-Remaining': '9',
  'RateLimit-Policy': '10;w=1',
  'Retry-Hint': 'not named',
};

const withHeaders =
  (headers: Readonly<Record<string, string | string[]>>): Handler =>
  ({ reply, paid }) => {
    for (const [name, value] of Object.entries(headers)) reply.header(name, value);
    return paid;
  };

function linesFrom(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${name.toLowerCase()}: ${value}`);
}

/** The names of the headers that stand in the run's record. */
async function recordedNames({ records }: Stage): Promise<string[]> {
  const [record] = await records();
  return (JSON.parse(record!.headers!) as [string, string][]).map(([name]) => name.toLowerCase());
}

const SECRET = 'correct-horse-battery-staple';

const withSecret: Handler = () => ({ secret: SECRET });

const KEY_1 = randomBytes(32);
const KEY_2 = randomBytes(32).toString('base64');

const under = (protect: BodyProtection) => ({ idempotency: { protect } });
const OLD = under(aes256Gcm({ keys: { 'key-1': KEY_1 }, current: 'key-1' }));
const ROTATED = under(aes256Gcm({ keys: { 'key-1': KEY_1, 'key-2': KEY_2 }, current: 'key-2' }));
const RETIRED = under(aes256Gcm({ keys: { 'key-2': KEY_2 }, current: 'key-2' }));

/** A recording whose body cannot be opened any more: the retry is told so, and nothing runs. */
const unopenable = (spoil: (stage: Stage) => Promise<Stage>): Fate => ({
  ends: PAID_ONCE,
  play: async ({ script, start }) => {
    script.handler = withSecret;
    const stage = await start(OLD);
    expectAnswer(await stage.send(), { line: '201 Created', body: { secret: SECRET } });
    const spoilt = await spoil(stage);
    expectProblem(await spoilt.send(), 'idempotency-response-unavailable');
  },
});

export const recordings: readonly Situation[] = [
  {
    when: 'headers that speak of the content',
    ends: PAID_ONCE,
    play: async ({ run, script, send }) => {
      script.handler = withHeaders(OF_THE_CONTENT);
      const first = await send(PASSTHROUGH);
      expect(linesOf(first)).toEqual(linesFrom(OF_THE_CONTENT).sort());
      expect(first.json()).toEqual({ paid: run, entry: 1 });
      expectReplay(await send(PASSTHROUGH), first);
    },
  },
  {
    when: 'headers that the endpoint names (`replayHeaders`)',
    ends: PAID_ONCE,
    play: async ({ script, send }) => {
      script.handler = withHeaders({ 'x-receipt': 'A-1', 'X-Other': 'B-2' });
      const first = await send(PASSTHROUGH);
      expect(linesOf(first, ['etag'])).toEqual([JSON_LINE, 'x-other: B-2', 'x-receipt: A-1']);
      expectReplay(await send(PASSTHROUGH), first, ['x-other: B-2']);
    },
  },
  {
    when: 'headers that belong to the exchange, the connection or the caller',
    ends: PAID_ONCE,
    play: async (stage) => {
      stage.script.handler = withHeaders({ ...OF_THE_EXCHANGE, 'Set-Cookie': ['a=1', 'b=2'] });
      const first = await stage.send(PASSTHROUGH);
      expect(first.headers.map(([name, value]) => `${name.toLowerCase()}: ${value}`)).toEqual(
        expect.arrayContaining([...linesFrom(OF_THE_EXCHANGE), 'set-cookie: a=1', 'set-cookie: b=2']),
      );
      const usual = stage.platform === 'express' ? ['content-type', 'etag'] : ['content-type'];
      expect(await recordedNames(stage)).toEqual(usual);
      const replay = await stage.send(PASSTHROUGH);
      expect(linesOf(replay, ['etag'])).toEqual([JSON_LINE, 'idempotent-replayed: true']);
      expect(replay.header('Date')).not.toBe(OF_THE_EXCHANGE.Date);
    },
  },
  {
    when: '`replayHeaders` names one that is never replayed, or what is no name of a header',
    ends: NOTHING_HAPPENED,
    play: async ({ refusalToStart }) => {
      const names = ['Set-Cookie', 'www-authenticate', 'DATE', 'X-Request-Id', 'X-RateLimit-Limit', 'no name'];
      const refusal = await refusalToStart({ idempotency: { replayHeaders: ['X-Receipt', ...names] } });
      expect(refusal).toContain(`these headers are never replayed: ${names.join(', ')}.`);
    },
  },
  {
    when: 'a header of several lines',
    ends: PAID_ONCE,
    play: async ({ script, send }) => {
      const links = ['</payments/1>; rel="self"', '</payments>; rel="up"'];
      script.handler = withHeaders({ Link: links });
      const first = await send(PASSTHROUGH);
      expect(first.headers.filter(([name]) => name.toLowerCase() === 'link').map(([, value]) => value)).toEqual(links);
      const replay = await send(PASSTHROUGH);
      expect(replay.headers.filter(([name]) => name.toLowerCase() === 'link').map(([, value]) => value)).toEqual(links);
      expectReplay(replay, first);
    },
  },
  {
    when: 'headers that `@Header()` declares',
    ends: PAID_ONCE,
    play: async ({ send }) => {
      const first = await send({ path: '/declared' });
      expect(linesOf(first, ['etag'])).toEqual(['cache-control: max-age=60', JSON_LINE]);
      expectReplay(await send({ path: '/declared' }), first);
    },
  },
  {
    when: 'a body that the handler compressed',
    ends: PAID_ONCE,
    play: async ({ run, script, send, records }) => {
      const text = JSON.stringify({ paid: run });
      script.handler = ({ reply }) => {
        reply.header('Content-Type', 'application/json').header('Content-Encoding', 'gzip').send(gzipSync(text));
      };
      const first = await send({ path: '/own-response' });
      expect([first.header('Content-Encoding'), first.body().toString()]).toEqual(['gzip', text]);
      expect(await records()).toMatchObject([{ body: Buffer.from(text) }]);
      const replay = await send({ path: '/own-response' });
      expect([replay.header('Content-Encoding'), replay.payload.toString()]).toEqual([undefined, text]);
      expect(replay.header('Idempotent-Replayed')).toBe('true');
    },
  },
  {
    when: 'a body longer than the limit (`recordingLimitBytes`)',
    ends: PAID_ONCE,
    play: async ({ script, start }) => {
      const { send, records } = await start({ idempotency: { recordingLimitBytes: 64 * 1024 } });
      const body = randomBytes(64 * 1024 + 1);
      script.handler = ({ reply }) => {
        reply.header('Location', '/payments/1');
        return new StreamableFile(body);
      };
      const first = await send(PASSTHROUGH);
      expect([statusLine(first), first.payload.equals(body), first.isWhole]).toEqual(['201 Created', true, true]);
      expect(await records()).toMatchObject([
        { status: 201, body: null, omitted: 'too_large', resource: '/payments/1' },
      ]);
      const resource = '/payments/1';
      const link = '</payments/1>; rel="related"';
      expectProblem(await send(PASSTHROUGH), 'idempotency-response-unavailable', { resource, link });
    },
  },
  {
    when: 'a body as long as the limit',
    ends: PAID_ONCE,
    play: async ({ script, start }) => {
      const { send } = await start({ idempotency: { recordingLimitBytes: 64 * 1024 } });
      const body = randomBytes(64 * 1024);
      script.handler = () => new StreamableFile(body);
      const first = await send();
      expect([statusLine(first), first.payload.equals(body)]).toEqual(['201 Created', true]);
      expectReplay(await send(), first);
    },
  },
  {
    when: "a body that is left out on purpose (`recording: 'status-only'`)",
    ends: PAID_ONCE,
    play: async ({ script, send, records }) => {
      script.handler = ({ reply }) => {
        reply.status(202).header('Location', '/secrets/1');
        return { secret: SECRET };
      };
      const first = await send({ path: '/status-only' });
      const lines = [JSON_LINE, 'location: /secrets/1'];
      expectAnswer(first, { line: '202 Accepted', body: { secret: SECRET }, lines });
      expect(await records()).toMatchObject([{ status: 202, body: null, omitted: null, resource: '/secrets/1' }]);
      expect(JSON.stringify(await records())).not.toContain(SECRET);
      const replay = await send({ path: '/status-only' });
      expectAnswer(replay, { line: '202 Accepted', body: '', lines: [...lines, 'idempotent-replayed: true'] });
    },
  },
  {
    when: 'a body that is encrypted (`protect`)',
    ends: PAID_ONCE,
    play: async ({ script, start }) => {
      script.handler = withSecret;
      const { send, records } = await start(OLD);
      const first = await send();
      expectAnswer(first, { line: '201 Created', body: { secret: SECRET } });
      const [record] = await records();
      expect(record).toMatchObject({ keyId: 'key-1', omitted: null });
      expect(record!.body!.includes(SECRET)).toBe(false);
      // A nonce, a tag, and as much as was sent.
      expect(record!.body!.length).toBe(12 + 16 + first.payload.length);
      expect(record!.headers).not.toMatch(/etag/i);
      expectReplay(await send(), first, etagOf(first));
    },
  },
  {
    when: 'no body, under `protect`',
    ends: PAID_ONCE,
    play: async ({ start }) => {
      const { send, records } = await start(OLD);
      const first = await send({ path: '/no-content' });
      expect(await records()).toMatchObject([{ status: 204, keyId: null, body: null }]);
      expectReplay(await send({ path: '/no-content' }), first);
    },
  },
  {
    when: 'a body under a key that has been replaced by another',
    ends: { entries: 2, payments: 2, records: ['completed', 'completed'] },
    play: async ({ run, start }) => {
      const before = await start(OLD);
      const first = await before.send();
      expectPaid(first);
      const after = await start(ROTATED);
      expectReplay(await after.send(), first, etagOf(first));
      const second = await after.send({ key: `other-${run}` });
      expectPaid(second, 2);
      expect(await after.records()).toMatchObject([{ keyId: 'key-1' }, { keyId: 'key-2' }]);
      expectReplay(await after.send({ key: `other-${run}` }), second, etagOf(second));
    },
  },
  { when: 'a body under a key that is no longer given', ...unopenable(({ start }) => start(RETIRED)) },
  { when: 'a body under a key, where nothing is given to open it', ...unopenable(({ start }) => start({})) },
  {
    when: 'a body that was changed at rest',
    ...unopenable(async (stage) => {
      await stage.sql(
        `UPDATE idempotency_records SET response_body = set_byte(response_body, 30, 255 - get_byte(response_body, 30))
          WHERE key = $1`,
        stage.run,
      );
      return stage;
    }),
  },
  {
    when: 'a body that was moved to the record of another operation',
    ends: { entries: 2, payments: 2, records: ['completed', 'completed'] },
    play: async ({ run, start }) => {
      const { send, sql } = await start(OLD);
      const first = await send();
      expectPaid(await send({ key: `other-${run}` }), 2);
      await sql(
        `UPDATE idempotency_records SET response_body = (SELECT response_body FROM idempotency_records WHERE key = $1)
          WHERE key = $2`,
        run,
        `other-${run}`,
      );
      expectProblem(await send({ key: `other-${run}` }), 'idempotency-response-unavailable');
      expectReplay(await send(), first, etagOf(first));
    },
  },
  {
    when: 'a body that cannot be encrypted',
    ends: { entries: 1, payments: 0, records: [] },
    play: async ({ run, start }) => {
      const failure = new Error(`The vault is away in ${run}.`);
      const broken = { seal: throwing(failure), open: () => Buffer.of() };
      const stage = await start(under(broken as unknown as BodyProtection));
      const answer = await stage.send();
      expectProblem(answer, 'idempotency-work-broken');
      expect(answer.payload.toString()).not.toContain('vault');
      expect(stage.complaints(failure.message)).toHaveLength(1);
      await expectNothingLeft(stage);
    },
  },
];
