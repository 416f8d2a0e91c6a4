import { describe, expect, it } from '@jest/globals';
import compression from 'compression';
import { gunzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import type { Recording } from '../../core/recording.js';
import { replay, replayOf } from './replay.js';
import { bytesFrom, commit, hold, type Middleware, open, serving } from './wire.fixture.js';

const RECORDING: Recording = {
  status: 201,
  headers: [
    ['Content-Type', 'application/json'],
    ['Link', '<a>'],
    ['Link', '<b>'],
  ],
  body: Buffer.from('{"id":1}'),
  omitted: null,
  resource: null,
};

/** The bytes of one response that `answer` gives. */
function answered(answer: (res: ServerResponse) => unknown, before?: Middleware): Promise<string> {
  return serving(
    (req, res) => {
      res.shouldKeepAlive = false;
      if (before) before(req, res, () => void answer(res));
      else answer(res);
    },
    async (port) => bytesFrom(open(port)),
  );
}

/** The bytes of a body in chunks. */
function dechunked(chunked: string): Buffer {
  const [size = '0'] = chunked.split('\r\n', 1);
  const from = size.length + 2;
  const to = from + parseInt(size, 16);
  const part = Buffer.from(chunked.slice(from, to), 'latin1');
  return part.length === 0 ? part : Buffer.concat([part, dechunked(chunked.slice(to + 2))]);
}

const HEAD =
  'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nLink: <a>\r\nLink: <b>\r\nIdempotent-Replayed: true\r\n';

describe('replay', () => {
  it('gives back status, header lines and bytes, marked as a replay', async () => {
    expect(await answered((res) => replay(res, replayOf(RECORDING)))).toBe(
      `${HEAD}Content-Length: 8\r\nDate: then\r\nConnection: close\r\n\r\n{"id":1}`,
    );
  });

  it.each([
    ['no body', 200, null, 'Content-Length: 0'],
    ['an empty body', 200, Buffer.alloc(0), 'Content-Length: 0'],
    ['204', 204, Buffer.from('dropped'), null],
    ['205', 205, Buffer.from('dropped'), 'Content-Length: 0'],
    ['304', 304, null, null],
  ])('sends no bytes for %s', async (_name, status, body, length) => {
    const bytes = await answered((res) => replay(res, replayOf({ ...RECORDING, status, headers: [], body })));
    const [first, ...lines] = bytes.split('\r\n');
    expect(first).toContain(`HTTP/1.1 ${status} `);
    const expected = [
      'Connection: close',
      'Date: then',
      'Idempotent-Replayed: true',
      ...(length === null ? [] : [length]),
    ];
    expect(lines.sort()).toEqual(['', '', ...expected.sort()]);
  });

  it('keeps what middleware set, but for what the route declares and what the recording has', async () => {
    const bytes = await answered((res) => {
      res.setHeader('Vary', 'Origin').setHeader('X-Declared', '1').setHeader('content-type', 'text/html');
      res.setHeader('Content-Length', 99).setHeader('Content-Encoding', 'br');
      const extraHeaders = { 'x-reply': 'above', 'x-declared': 'above' };
      return replay(res, replayOf(RECORDING), { extraHeaders, declaredHeaders: ['x-declared'] });
    });
    expect(bytes.split('\r\n\r\n')[0]?.split('\r\n').sort()).toEqual([
      'Connection: close',
      'Content-Length: 8',
      'Content-Type: application/json',
      'Date: then',
      'HTTP/1.1 201 Created',
      'Idempotent-Replayed: true',
      'Link: <a>',
      'Link: <b>',
      'Vary: Origin',
      'x-reply: above',
    ]);
  });

  it('goes through the middleware of its own request', async () => {
    const body = Buffer.from('again '.repeat(1000));
    const bytes = await answered(
      (res) => replay(res, replayOf({ ...RECORDING, body })),
      compression() as unknown as Middleware,
    );
    expect(bytes).toContain('\r\nContent-Encoding: gzip\r\n');
    expect(gunzipSync(dechunked(bytes.slice(bytes.indexOf('\r\n\r\n') + 4))).equals(body)).toBe(true);
  });

  it('swallows whatever is called afterwards', async () => {
    let seen: unknown[] = [];
    const bytes = await answered(async (res) => {
      const out = replay(res, replayOf(RECORDING));
      seen = [res.headersSent, res.setHeader('X-A', '1') === res, res.writeHead(500) === res, res.write('x')];
      await new Promise<void>((resolve) => res.end('x', resolve));
      await out;
      seen.push(res.writableEnded, res.end('late') === res);
    });
    expect(bytes).toBe(`${HEAD}Content-Length: 8\r\nDate: then\r\nConnection: close\r\n\r\n{"id":1}`);
    expect(seen).toEqual([true, true, true, true, true, true]);
  });

  it('resolves for a client that has left', async () => {
    let isOver = false;
    await answered(async (res) => {
      res.destroy();
      await commit();
      await replay(res, replayOf(RECORDING));
      isOver = true;
    });
    await commit();
    expect(isOver).toBe(true);
  });

  it('takes the place of a holding that has not answered', async () => {
    const bytes = await answered((res) => {
      const attempt = hold(res);
      attempt.held.handlerReturned();
      void replay(res, replayOf(RECORDING));
      attempt.held.release();
    });
    expect(bytes).toContain('{"id":1}');
  });
});
