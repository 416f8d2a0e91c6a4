import { PassThrough, pipeline, Readable } from 'node:stream';
import { pipeline as piped } from 'node:stream/promises';
import { commit, type Writer } from './wire.fixture.js';

const LONG = 'a line that compresses well\n'.repeat(200);

/** The ways in which applications write an answer, right and wrong ones. */
export const writers: Record<string, Writer> = {
  'end with a string': (res) => res.end('hello'),
  'end with bytes': (res) => res.end(Buffer.from([0, 1, 254, 255])),
  'end with nothing': (res) => res.end(),
  'end with an empty string': (res) => res.end(''),
  'end with null and nulls, as Fastify does': (res) => res.end(null, null as never, null as never),
  'end with a callback alone': (res, note) => res.end(() => note('end')),
  'end with chunk and callback': (res, note) => res.end('x', () => note('end')),
  'end with chunk, encoding and callback': (res, note) => res.end('aGk=', 'base64', () => note('end')),
  'a long answer': (res) => res.setHeader('Content-Type', 'text/plain').end(LONG),
  'a long answer with its length': (res) =>
    res.setHeader('Content-Type', 'text/plain').setHeader('Content-Length', LONG.length).end(LONG),
  'write and end': (res) => {
    res.write('one');
    res.end('two');
  },
  'write and end with a length': (res) => {
    res.setHeader('Content-Length', 6);
    res.write('one');
    res.end('two');
  },
  'long writes of text': (res) => {
    res.setHeader('Content-Type', 'text/plain');
    res.write(LONG);
    res.end(LONG);
  },
  'writes in several turns': async (res) => {
    res.write('one');
    await new Promise(setImmediate);
    res.write('two');
    await new Promise(setImmediate);
    res.end();
  },
  'writes in several encodings': (res) => {
    res.write('é', 'latin1');
    res.write('é', 'utf8');
    res.write('ff00', 'hex');
    res.end('é', 'utf16le');
  },
  'a buffer that is used again': (res) => {
    const buffer = Buffer.from('first!');
    res.write(buffer);
    queueMicrotask(() => undefined);
    res.write(Buffer.from(buffer));
    res.end();
    return commit().then(() => buffer.fill('x'));
  },
  'an array of bytes': (res) => res.end(new Uint8Array([65, 66])),
  'callbacks in their order': (res, note) => {
    res.on('finish', () => note('finish'));
    res.write('one', () => note('write 1'));
    res.write('two', 'utf8', () => note('write 2'));
    res.end('three', () => note('end'));
  },
  'what the calls return': (res, note) => {
    note(String(res.setHeader('A', '1') === res));
    note(String(res.writeHead(200) === res));
    note(String(res.write('x')));
    note(String(res.headersSent));
    note(String(res.end() === res || typeof res.end));
  },
  'writeHead with a status': (res) => res.writeHead(202).end('x'),
  'writeHead with a reason': (res) => res.writeHead(200, 'Splendid').end('x'),
  'writeHead with headers': (res) => res.writeHead(200, { 'Content-Type': 'text/plain', 'X-A': ['1', '2'] }).end('x'),
  'writeHead with a flat list': (res) => res.writeHead(200, ['X-A', '1', 'X-A', '2', 'X-B', '3']).end('x'),
  'writeHead over headers that are set': (res) => {
    res.setHeader('X-A', 'set').setHeader('X-B', 'set');
    res.writeHead(200, 'Fine', { 'x-a': 'head', 'X-C': 'head' }).end('x');
  },
  'writeHead with a flat list over headers that are set': (res) => {
    res.setHeader('X-A', 'set').setHeader('X-B', 'set');
    res.writeHead(200, ['x-a', 'head', 'X-C', 'head']).end('x');
  },
  'writeHead and a later end': async (res) => {
    res.writeHead(201, { 'Content-Length': '2' });
    await new Promise(setImmediate);
    res.end('ok');
  },
  'a reason phrase': (res) => {
    res.statusMessage = 'As You Like It';
    res.end('x');
  },
  'flushed headers': async (res) => {
    res.setHeader('X-A', '1').flushHeaders();
    await new Promise(setImmediate);
    res.end('later');
  },
  'several lines of one header': (res) => {
    res.setHeader('Link', ['<a>', '<b>']).appendHeader('Link', '<c>').setHeader('Set-Cookie', ['a=1', 'b=2']);
    res.end('x');
  },
  'headers from a map': (res) => {
    res.setHeaders(new Map([['X-A', '1']]));
    res.removeHeader('x-a');
    res.setHeaders(new Headers({ 'X-B': '2' })).end('x');
  },
  'no date': (res) => {
    res.removeHeader('Date');
    res.end('x');
  },
  'a closed connection': (res) => res.setHeader('Connection', 'close').end('x'),
  trailers: (res) => {
    res.setHeader('Trailer', 'X-Sum');
    res.write('body');
    res.addTrailers({ 'X-Sum': '42' });
    res.end();
  },
  'a trailer with a length': (res) => res.setHeader('Trailer', 'X-Sum').setHeader('Content-Length', 1).end('x'),
  'a status without a body': (res) => res.writeHead(204).end(),
  'a body with 204': (res) => res.writeHead(204).end('dropped'),
  'a written body with 304': (res, note) => {
    res.statusCode = 304;
    note(String(res.write('dropped', () => note('write'))));
    res.end();
  },
  'a status changed too late': async (res, note) => {
    res.statusCode = 201;
    res.write('x');
    res.statusCode = 500;
    res.statusMessage = 'Too late';
    res.on('finish', () => note(`status ${res.statusCode} ${res.statusMessage}`));
    await new Promise(setImmediate);
    res.end();
  },
  'an impossible status': (res) => {
    res.statusCode = 9999;
    res.end('x');
  },
  'an impossible status in writeHead': (res) => res.writeHead(42),
  'an impossible reason': (res) => {
    res.statusMessage = 'a\nb';
    res.end('x');
  },
  'an invalid header value': (res) => res.setHeader('X-A', 'a\nb'),
  'an invalid header value in writeHead': (res) => res.writeHead(200, { 'X-A': 'a\nb' }),
  'an invalid header name in writeHead': (res) => res.writeHead(200, { 'X A': '1' }),
  'an undefined header value in writeHead': (res) => res.writeHead(200, { 'X-A': undefined }),
  'an odd list in writeHead': (res) => res.writeHead(200, ['X-A']),
  'a chunk of a wrong type': (res) => res.write(42),
  'an end of a wrong type': (res) => res.end({}),
  'a null chunk': (res) => res.write(null),
  'a header set too late': (res) => {
    res.write('x');
    res.setHeader('X-A', '1');
  },
  'a header appended, removed and set too late': (res, note) => {
    res.write('x');
    for (const late of [
      () => res.appendHeader('X-A', '1'),
      () => res.removeHeader('X-A'),
      () => res.setHeaders(new Map()),
      () => res.writeHead(200),
      () => res.flushHeaders(),
    ]) {
      try {
        late();
      } catch (error) {
        note(String(error));
      }
    }
    res.end();
  },
  'a second end': (res, note) => {
    res.end('once', () => note('first'));
    res.end(() => note('second'));
    res.end();
  },
  'a write after the end': (res, note) => {
    res.on('error', (error) => note(String(error)));
    res.end('x');
    note(String(res.write('late', (error) => note(`write: ${error}`))));
  },
  'a second answer': (res, note) => {
    res.on('error', (error) => note(String(error)));
    res.end('x');
    res.end('y');
  },
  'a strict length kept': (res) => {
    res.strictContentLength = true;
    res.setHeader('Content-Length', 3);
    res.write('a');
    res.end('bc');
  },
  'a strict length broken, and then mended': (res, note) => {
    res.strictContentLength = true;
    res.setHeader('Content-Length', 3);
    res.write('ab');
    try {
      res.write('cd');
    } catch (error) {
      note(String(error));
    }
    res.end('c');
  },
  'a piped stream': (res) => Readable.from(['a', 'b', 'c']).pipe(res),
  'a piped stream and a tail': (res) => {
    const source = Readable.from(['a', 'b']);
    source.on('end', () => res.end('tail')).pipe(res, { end: false });
  },
  'a chain of pipes': (res) => Readable.from([LONG]).pipe(new PassThrough()).pipe(res),
  'a pipeline': (res, note) => pipeline(Readable.from(['a', 'b']), res, (error) => note(`done ${error}`)),
  'an awaited pipeline of a generator': (res) =>
    piped(async function* () {
      yield 'a';
      await commit();
      yield 'b';
    }, res),
  'a source that fails before its first byte': (res) => {
    const source = new Readable({ read: () => undefined });
    source.once('error', () => {
      res.statusCode = 400;
      res.end('could not be read');
    });
    source.pipe(res);
    source.destroy(new Error('no such file'));
  },
};
