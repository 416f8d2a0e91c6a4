import { describe, expect, it } from '@jest/globals';
import compression from 'compression';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { type Attempt, bytesFrom, commit, hold, type Middleware, open, serving } from './wire.fixture.js';
import type { HoldOptions, OwnAnswer } from './wire-answer.js';

const PROBLEM: OwnAnswer = {
  status: 503,
  headers: [
    ['Content-Type', 'application/problem+json'],
    ['Retry-After', '1'],
  ],
  body: '{"status":503}',
};

const OWN = { writesOwnResponse: true } as const;
const LIMIT = 64 * 1024;
const PART = Buffer.alloc(40 * 1024, 'p');

interface Scene {
  readonly res: ServerResponse;
  readonly attempt: Attempt;
  readonly socket: Socket;
  /** Everything the client got, once its connection has closed. */
  readonly received: Promise<string>;
}

/** One request, held from its first moment, and closed by the server once `play` is over and the answer sent. */
function stage(play: (scene: Scene) => void | Promise<void>, options: Partial<HoldOptions> = {}, before?: Middleware) {
  let arrive: (res: ServerResponse) => void;
  const arrived = new Promise<ServerResponse>((resolve) => (arrive = resolve));
  return serving(
    (req: IncomingMessage, res) => (before ? before(req, res, () => arrive(res)) : arrive(res)),
    async (port) => {
      const socket = open(port);
      const received = bytesFrom(socket);
      const res = await arrived;
      res.shouldKeepAlive = false;
      await play({ res, attempt: hold(res, options), socket, received });
    },
  );
}

async function hangUp({ res, socket }: Scene): Promise<void> {
  socket.destroy();
  await once(res, 'close');
}

/** A source that gives one part and then waits for its fate. */
function endless(part = 'part'): Readable {
  const source = new Readable({ read: () => undefined });
  source.on('error', () => undefined);
  source.push(part);
  return source;
}

const body = (bytes: string): string => bytes.slice(bytes.indexOf('\r\n\r\n') + 4);

describe('what a held response tells', () => {
  it('gives status, header lines and the body as bytes, and sends nothing before the release', () =>
    stage(async ({ res, attempt, socket, received }) => {
      attempt.held.handlerReturned();
      res.writeHead(201, { 'Content-Type': 'text/plain', Link: ['<a>', '<b>'], 'X-N': 1 });
      res.write('aGk', 'base64');
      res.end('é');
      expect(await attempt.answered).toEqual({
        kind: 'whole',
        status: 201,
        headers: [
          ['Content-Type', 'text/plain'],
          ['Link', '<a>'],
          ['Link', '<b>'],
          ['X-N', '1'],
        ],
        body: Buffer.from('hié'),
      });
      await commit();
      expect(socket.bytesRead).toBe(0);
      expect([res.writableEnded, res.headersSent, attempt.held.hasEnded]).toEqual([false, true, true]);
      attempt.held.release();
      expect(res.writableEnded).toBe(true);
      await received;
    }));

  it.each([
    ['204', { status: 204 }, null],
    ['205', { status: 205 }, null],
    ['304', { status: 304 }, null],
    ['an empty body', { status: 200 }, Buffer.alloc(0)],
  ])('tells no body from an empty one: %s', (_name, { status }, expected) =>
    stage(async ({ res, attempt }) => {
      attempt.held.handlerReturned();
      res.statusCode = status;
      res.end();
      expect(await attempt.answered).toMatchObject({ kind: 'whole', status, body: expected });
      attempt.held.release();
    }),
  );

  it('keeps the bytes of a buffer that its writer uses again', () =>
    stage(async ({ res, attempt, received }) => {
      const buffer = Buffer.from('first');
      attempt.held.handlerReturned();
      res.write(buffer);
      buffer.write('later');
      res.end(buffer);
      buffer.fill('x');
      expect(await attempt.answered).toMatchObject({ body: Buffer.from('firstlater') });
      attempt.held.release();
      expect(body(await received)).toContain('first\r\n');
    }));

  it('tells that the work is over when the handler begins to write, and the answer when it ends', () =>
    stage(({ res, attempt }) => {
      attempt.inside(() => res.write('a'));
      expect(attempt.told).toEqual(['work over']);
      attempt.held.handlerReturned();
      res.end();
      expect(attempt.told).toEqual(['work over', 'whole']);
      attempt.held.release();
    }, OWN));

  it('sees what a patch over it adds to the head', () =>
    stage(async ({ res, attempt, received }) => {
      attempt.held.handlerReturned();
      const { writeHead } = res;
      res.writeHead = function (...args: unknown[]) {
        res.setHeader('X-Late', '1');
        return Reflect.apply(writeHead, res, args) as typeof res;
      };
      res.end('x');
      expect(await attempt.answered).toMatchObject({ headers: [['X-Late', '1']], body: Buffer.from('x') });
      attempt.held.release();
      expect(await received).toMatch(/\r\nX-Late: 1\r\n[^]*\r\nContent-Length: 1\r\n\r\nx$/);
    }));

  it('lets the handler run again', () =>
    stage(({ res, attempt }) => {
      attempt.held.handlerThrew(new Error('the first time'));
      attempt.held.handlerStarted();
      res.end('foreign');
      expect(attempt.told).toEqual(['foreign']);
    }));
});

describe('an answer larger than the limit', () => {
  it.each([
    ['plain', undefined],
    ['compressed', compression() as unknown as Middleware],
  ])('is told once the limit is passed, and streams on under backpressure: %s', (_name, before) =>
    stage(
      async ({ res, attempt, received }) => {
        attempt.held.handlerReturned();
        const seen: string[] = [];
        expect(res.write(PART, () => seen.push('first'))).toBe(true);
        expect(res.write(PART, () => seen.push('second'))).toBe(false);
        expect(attempt.told).toEqual(['oversized']);
        await commit();
        expect(seen).toEqual(['first']);
        const drained = once(res, 'drain');
        attempt.held.release();
        await drained;
        res.end(PART);
        const bytes = await received;
        if (before === undefined) expect(bytes.match(/p/g)?.length).toBeGreaterThanOrEqual(3 * PART.length);
        expect(attempt.told).toEqual(['oversized']);
      },
      { limitBytes: LIMIT },
      before,
    ),
  );

  it('goes out whole from a pipe', () =>
    stage(
      async ({ res, attempt, received }) => {
        attempt.held.handlerReturned();
        res.setHeader('Content-Length', 20 * PART.length);
        Readable.from(Array.from({ length: 20 }, () => PART)).pipe(res);
        expect(await attempt.answered).toMatchObject({ kind: 'oversized', status: 200 });
        await commit();
        attempt.held.release();
        expect(body(await received).length).toBe(20 * PART.length);
      },
      { limitBytes: LIMIT },
    ));

  it('is oversized too when it ends in one call', () =>
    stage(
      async ({ res, attempt, received }) => {
        attempt.held.handlerReturned();
        res.end(Buffer.alloc(LIMIT + 1));
        expect(attempt.told).toEqual(['oversized']);
        attempt.held.release();
        expect(body(await received).length).toBe(LIMIT + 1);
      },
      { limitBytes: 1 },
    ));

  it('lets its writer finish when it is discarded', () =>
    stage(
      async ({ res, attempt, received }) => {
        attempt.held.handlerReturned();
        const written = pipeline(Readable.from(Array.from({ length: 20 }, () => PART)), res).catch(
          (error: NodeJS.ErrnoException) => error.code,
        );
        await attempt.answered;
        attempt.held.discard(PROBLEM);
        expect(body(await received)).toBe(PROBLEM.body);
        await written;
      },
      { limitBytes: LIMIT },
    ));
});

describe('an answer that is broken off', () => {
  it.each([
    ['ended by hand', (res: ServerResponse) => res.end(), 'source_unfinished'],
    ['destroyed', (res: ServerResponse) => res.destroy(new Error('torn')), 'destroyed'],
  ])('is never whole when its source fails half way: %s', (_name, react, reason) =>
    stage(async ({ res, attempt }) => {
      attempt.held.handlerReturned();
      const source = endless();
      source.once('error', () => react(res)).pipe(res);
      await once(source, 'data');
      source.destroy(new Error('disk'));
      expect(await attempt.answered).toMatchObject({ kind: 'broken', reason });
      attempt.held.discard(PROBLEM);
    }),
  );

  it('is answered with the problem when its handler throws', () =>
    stage(async ({ res, attempt, received }) => {
      attempt.inside(() => res.write('part'));
      attempt.held.handlerThrew(new Error('half way'));
      expect(attempt.answers).toEqual([{ kind: 'broken', reason: 'threw', error: new Error('half way') }]);
      expect(res.headersSent).toBe(true);
      res.end();
      attempt.held.discard(PROBLEM);
      expect(await received).toMatch(/^HTTP\/1.1 503 .*\r\n[^]*Content-Length: 14\r\n[^]*\r\n\r\n{"status":503}$/);
    }, OWN));

  it('destroys the response that the application destroyed, after it is settled', () =>
    stage(async ({ res, attempt, socket, received }) => {
      attempt.held.handlerReturned();
      res.write('part');
      res.destroy();
      await commit();
      expect(res.destroyed).toBe(false);
      attempt.held.discard(PROBLEM);
      expect(res.destroyed).toBe(true);
      expect(await received).toBe('');
      expect(socket.bytesRead).toBe(0);
    }));

  it('is cut short when someone else ends what the handler writes', () =>
    stage(({ res, attempt }) => {
      attempt.inside(() => res.write('part'));
      res.end();
      expect(attempt.answers).toEqual([{ kind: 'broken', reason: 'cut_short' }]);
      attempt.held.discard(PROBLEM);
    }, OWN));

  it('is whole when the filter answers for a source that failed before its first byte', () =>
    stage(async ({ res, attempt }) => {
      attempt.held.handlerReturned();
      const source = new Readable({ read: () => undefined });
      source.once('error', () => res.writeHead(404).end('no file')).pipe(res);
      source.destroy(new Error('ENOENT'));
      expect(await attempt.answered).toMatchObject({ kind: 'whole', status: 404, body: Buffer.from('no file') });
      attempt.held.release();
    }));
});

describe('a client that leaves', () => {
  it('changes nothing for a handler that answers later', () =>
    stage(async (scene) => {
      const { res, attempt } = scene;
      await hangUp(scene);
      attempt.held.handlerReturned();
      res.setHeader('Content-Type', 'text/plain').end('done');
      expect(attempt.answers).toMatchObject([{ kind: 'whole', status: 200, body: Buffer.from('done') }]);
      attempt.held.release();
    }));

  it('changes nothing for a handler that goes on writing by hand', () =>
    stage(async (scene) => {
      const { res, attempt } = scene;
      attempt.inside(() => res.write('a'));
      await hangUp(scene);
      attempt.inside(() => res.write('b'));
      attempt.inside(() => res.end('c'));
      expect(attempt.answers).toMatchObject([{ kind: 'whole', body: Buffer.from('abc') }]);
      attempt.held.handlerReturned();
      attempt.held.release();
    }, OWN));

  it('leaves a streamed body without its rest, while the handler waits for its pipeline', () =>
    stage(async (scene) => {
      const { res, attempt } = scene;
      const written = attempt.inside(() => pipeline(endless(), res)).catch((error: Error) => error);
      await commit();
      await hangUp(scene);
      expect(attempt.answers).toEqual([{ kind: 'client_left', status: 200, headers: [] }]);
      attempt.held.handlerThrew(await written);
      expect(attempt.told).toEqual(['work over', 'client_left']);
      attempt.held.release();
    }, OWN));

  it('leaves a body without its rest, whose handler fails because of it', () =>
    stage(async (scene) => {
      const { res, attempt } = scene;
      const gone = attempt.inside(() => {
        res.write('part');
        return finished(res).catch((error: Error) => error);
      });
      await hangUp(scene);
      attempt.held.handlerThrew(await gone);
      expect(attempt.told).toEqual(['work over', 'client_left']);
      attempt.held.release();
    }, OWN));

  it('breaks off what its handler fails to write for another reason', () =>
    stage(async (scene) => {
      const { res, attempt } = scene;
      attempt.inside(() => res.write('part'));
      await hangUp(scene);
      attempt.held.handlerThrew(new Error('disk'));
      expect(attempt.told).toEqual(['work over', 'broken']);
      attempt.held.discard(PROBLEM);
    }, OWN));

  it('gets a generated body recorded to its end', () =>
    stage(async (scene) => {
      const { res, attempt } = scene;
      const chunks = async function* () {
        yield 'part';
        await once(res, 'close').then(commit);
        yield 'rest';
      };
      const written = attempt.inside(() => pipeline(chunks(), res)).catch((error: Error) => error);
      await commit();
      await hangUp(scene);
      expect(await attempt.answered).toMatchObject({ kind: 'whole', body: Buffer.from('partrest') });
      attempt.held.release();
      await written;
    }, OWN));

  it('leaves a stream that is written chunk by chunk without its rest', () =>
    stage(async (scene) => {
      const { res, attempt } = scene;
      attempt.held.handlerReturned();
      res.write('part');
      await hangUp(scene);
      expect(attempt.told).toEqual(['client_left']);
      attempt.held.release();
    }));

  it('does not make a whole answer of a stream that was cancelled', () =>
    stage(async (scene) => {
      const { res, attempt } = scene;
      await hangUp(scene);
      attempt.held.handlerReturned();
      res.write('part');
      res.end();
      expect(attempt.told).toEqual(['client_left']);
      attempt.held.release();
    }));

  it('takes a stream for whole that is as long as it said', () =>
    stage(async (scene) => {
      const { res, attempt } = scene;
      await hangUp(scene);
      attempt.held.handlerReturned();
      res.setHeader('Content-Length', 4).write('full');
      res.end();
      expect(attempt.answers).toMatchObject([{ kind: 'whole', body: Buffer.from('full') }]);
      attempt.held.release();
    }));

  it.each(['before', 'after'])('breaks a route off that answers itself and has not: %s it returned', (when) =>
    stage(async (scene) => {
      if (when === 'before') await hangUp(scene);
      scene.attempt.held.handlerReturned();
      if (when === 'after') await hangUp(scene);
      expect(scene.attempt.answers).toEqual([{ kind: 'broken', reason: 'unanswered' }]);
      scene.attempt.held.discard(PROBLEM);
    }, OWN),
  );

  it('leaves an answer unseen that never comes', () =>
    stage(
      async (scene) => {
        scene.attempt.held.handlerReturned();
        await hangUp(scene);
        expect(await scene.attempt.answered).toEqual({ kind: 'unseen' });
        scene.attempt.held.release();
        scene.res.end('later');
      },
      { unseenAfterMs: 1 },
    ));

  it('leaves an answer unseen that the application gives up', () =>
    stage(async (scene) => {
      scene.attempt.held.handlerReturned();
      await hangUp(scene);
      scene.res.destroy();
      expect(scene.attempt.told).toEqual(['unseen']);
      scene.attempt.held.release();
    }));
});

describe('a foreign answer', () => {
  it('goes straight out, and what the attempt says meanwhile is swallowed', () =>
    stage(async ({ res, attempt, received }) => {
      res.writeHead(408, { 'Content-Type': 'text/plain' });
      const seen: string[] = [];
      attempt.inside(() => {
        res.setHeader('X-A', '1').removeHeader('X-A');
        expect(res.writeHead(201)).toBe(res);
        expect(res.write('mine', () => seen.push('write'))).toBe(true);
        expect(res.end(() => seen.push('end'))).toBe(res);
        expect(res.destroy()).toBe(res);
      });
      res.end('too slow');
      attempt.held.handlerReturned();
      res.setHeader('X-B', '1');
      res.end('late');
      expect(await received).toMatch(/^HTTP\/1.1 408 [^]*\r\n\r\n8\r\ntoo slow\r\n0\r\n\r\n$/);
      expect(seen).toEqual(['write', 'end']);
      expect(attempt.told).toEqual(['foreign']);
    }));

  it('may be given by the attempt itself, where the route does not write its own', () =>
    stage(async ({ res, attempt, received }) => {
      attempt.inside(() => {
        res.write('a');
        res.end('b');
      });
      attempt.held.handlerReturned();
      res.end('late');
      expect(body(await received)).toBe('1\r\na\r\n1\r\nb\r\n0\r\n\r\n');
      expect(attempt.told).toEqual(['foreign']);
    }));

  it('passes through middleware that ends it later', () =>
    stage(
      async ({ res, attempt, received }) => {
        res.statusCode = 408;
        res.end('too slow');
        expect(await received).toMatch(/^HTTP\/1.1 408 [^]*too slow/);
        expect(attempt.told).toEqual(['foreign']);
      },
      {},
      endingLater,
    ));

  it('is no answer when someone hangs up: the operation is', () =>
    stage(async ({ res, attempt }) => {
      res.destroy();
      if (!res.closed) await once(res, 'close');
      attempt.held.handlerReturned();
      res.end('done');
      expect(attempt.answers).toMatchObject([{ kind: 'whole', body: Buffer.from('done') }]);
      attempt.held.release();
    }));
});

/** Stores something first, as sessions do, and then ends the response from the top. */
const endingLater: Middleware = (_req, res, next) => {
  const { end } = res;
  res.end = function (...args: unknown[]) {
    void commit().then(() => {
      res.writeHead(res.statusCode);
      Reflect.apply(end, res, args);
    });
    return res;
  } as typeof res.end;
  next();
};

describe('a held answer that is discarded', () => {
  const settingHeaders: Middleware = (_req, res, next) => {
    res.setHeader('X-Request-Id', '7').setHeader('Vary', ['Origin']).setHeader('Cache-Control', 'public');
    next();
  };

  it('leaves what middleware had set, without what the route declares and what the handler did', () =>
    stage(
      async ({ res, attempt, received }) => {
        attempt.held.handlerReturned();
        res.setHeader('X-Request-Id', 'changed').appendHeader('Vary', 'Accept').setHeader('Set-Cookie', 'a=1');
        res.setHeader('Content-Length', 5).removeHeader('Date');
        res.statusMessage = 'Made';
        let isEndCalled = false;
        res.writeHead(201, { ETag: '"1"' }).end('hello', () => (isEndCalled = true));
        attempt.held.discard(PROBLEM);
        res.end('swallowed');
        expect(await received).toBe(
          'HTTP/1.1 503 Service Unavailable\r\nX-Request-Id: 7\r\nVary: Origin\r\nx-reply: set above\r\n' +
            'Content-Type: application/problem+json\r\nRetry-After: 1\r\nContent-Length: 14\r\nDate: then\r\n' +
            'Connection: close\r\n\r\n{"status":503}',
        );
        expect(isEndCalled).toBe(true);
      },
      { declaredHeaders: ['cache-control'], extraHeaders: { 'x-reply': 'set above' } },
      settingHeaders,
    ));

  it('passes through middleware that ends the problem later', () =>
    stage(
      async ({ res, attempt, received }) => {
        attempt.held.handlerReturned();
        res.end('hello');
        attempt.held.discard(PROBLEM);
        res.writeHead(200).end('swallowed');
        expect(body(await received)).toBe(PROBLEM.body);
      },
      {},
      endingLater,
    ));

  it('destroys a source whose bytes nobody reads', () =>
    stage(async ({ res, attempt }) => {
      const source = endless();
      const written = attempt.inside(() => pipeline(source, res));
      attempt.held.handlerThrew(new Error('meanwhile'));
      attempt.held.discard(PROBLEM);
      await expect(written).rejects.toThrow('Premature close');
      expect(source.destroyed).toBe(true);
    }, OWN));

  it('does nothing once the response is released', () =>
    stage(async ({ res, attempt, received }) => {
      attempt.held.handlerReturned();
      res.end('hello');
      attempt.held.release();
      attempt.held.release();
      attempt.held.discard(PROBLEM);
      expect(body(await received)).toBe('hello');
    }));
});

describe('a released response', () => {
  it('has its methods back, except under a patch that was laid over', () =>
    stage(async ({ res, attempt, received }) => {
      attempt.held.handlerReturned();
      const { end } = res;
      const patch = function (this: ServerResponse, ...args: unknown[]) {
        return Reflect.apply(end, this, args) as ServerResponse;
      } as typeof res.end;
      res.end = patch;
      res.end('hello');
      attempt.held.release();
      const { write } = Object.getPrototypeOf(res) as ServerResponse;
      expect(res.write).toBe(write);
      expect(res.end).toBe(patch);
      expect(body(await received)).toBe('hello');
    }));

  it('can be held once more, and then only the later holding counts', () =>
    stage(async ({ res, attempt, received }) => {
      const second = hold(res);
      second.held.handlerReturned();
      res.end('hello');
      attempt.held.release();
      attempt.held.discard(PROBLEM);
      expect([attempt.told, second.told]).toEqual([[], ['whole']]);
      second.held.release();
      expect(body(await received)).toBe('hello');
    }));

  it('is destroyed when what lies beneath refuses the answer: a retry is given the recording', () =>
    stage(
      async ({ res, attempt, received }) => {
        attempt.held.handlerReturned();
        res.end('hello');
        attempt.held.release();
        expect(await received).toBe('');
      },
      {},
      (_req, res, next) => {
        res.end = () => {
          throw new Error('no');
        };
        next();
      },
    ));
});
