import { describe, expect, it } from '@jest/globals';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { decodedContent } from './content-decoding.js';

const PLAIN = Buffer.from('what was said');
const LIMIT = 1024;

describe('decodedContent', () => {
  it.each([
    ['gzip', gzipSync(PLAIN)],
    ['X-GZip', gzipSync(PLAIN)],
    ['deflate', deflateSync(PLAIN)],
    ['deflate', deflateRawSync(PLAIN)],
    ['br', brotliCompressSync(PLAIN)],
    ['identity', PLAIN],
    ['gzip, br', brotliCompressSync(gzipSync(PLAIN))],
    ['identity,, deflate', deflateSync(PLAIN)],
  ])('undoes %s', async (coding, body) => {
    const headers = [['Content-Encoding', coding] as const];
    expect(await decodedContent(headers, body, LIMIT)).toEqual({ headers: [], body: PLAIN });
  });

  it('undoes codings on several lines, the last first', async () => {
    const headers = [['content-encoding', 'gzip'] as const, ['Content-Encoding', 'br'] as const];
    const body = brotliCompressSync(gzipSync(PLAIN));
    expect(await decodedContent(headers, body, LIMIT)).toEqual({ headers: [], body: PLAIN });
  });

  it.each([
    ['a coding that is not known', 'zebra', PLAIN],
    ['a coding that is not known under one that is', 'zebra, gzip', gzipSync(PLAIN)],
    ['bytes that are not what they are said to be', 'gzip', PLAIN],
    ['bytes that would be longer than the limit', 'gzip', gzipSync(Buffer.alloc(LIMIT + 1))],
    ['layers that would be longer than the limit', 'br, gzip', gzipSync(brotliCompressSync(Buffer.alloc(1 << 20)))],
  ])('keeps bytes and header of %s', async (_name, coding, body) => {
    const headers = [['Content-Type', 'text/plain'] as const, ['Content-Encoding', coding] as const];
    expect(await decodedContent(headers, body, LIMIT)).toEqual({ headers: [['Content-Encoding', coding]], body });
  });

  it.each([[null], [Buffer.alloc(0)]])('has nothing to do for %p', async (body) => {
    expect(await decodedContent([['Content-Encoding', 'gzip']], body, LIMIT)).toEqual({ headers: [], body });
  });

  it('leaves a body alone that has no coding', async () => {
    expect(await decodedContent([['Content-Type', 'text/plain']], PLAIN, LIMIT)).toEqual({ headers: [], body: PLAIN });
  });
});
