import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { isEmptyBody } from './unread-body.js';

const HEAD = 'POST / HTTP/1.1\r\nHost: unread.test\r\nTransfer-Encoding: chunked\r\n\r\n';
const END = '0\r\n\r\n';

describe('isEmptyBody', () => {
  let server: Server;

  beforeAll(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** A request as a handler gets it, when these bytes have been sent, and the client that goes on sending. */
  async function requestOf(bytes: string): Promise<[request: IncomingMessage, client: Socket]> {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    client.write(bytes);
    const [request] = (await once(server, 'request')) as [IncomingMessage];
    return [request, client];
  }

  it('is true of a body that has ended without content', async () => {
    const [request] = await requestOf(`${HEAD}${END}`);
    expect(await isEmptyBody(request)).toBe(true);
    expect(await text(request)).toBe('');
  });

  it('waits for the end', async () => {
    const [request, client] = await requestOf(HEAD);
    const isEmpty = isEmptyBody(request);
    client.write(END);
    expect(await isEmpty).toBe(true);
  });

  it.each(['at once', 'later'])('is false of content that comes %s, and leaves it to be read', async (when) => {
    const [request, client] = await requestOf(when === 'at once' ? `${HEAD}1\r\na\r\n` : HEAD);
    const isEmpty = isEmptyBody(request);
    if (when === 'later') client.write('1\r\na\r\n');
    expect(await isEmpty).toBe(false);
    client.write(`2\r\nbc\r\n${END}`);
    expect(await text(request)).toBe('abc');
  });

  it('leaves what it looked at to be read by listeners', async () => {
    const [request, client] = await requestOf(HEAD);
    const isEmpty = isEmptyBody(request);
    client.write('1\r\na\r\n');
    await isEmpty;
    const received: string[] = [];
    request.on('data', (chunk: Buffer) => received.push(chunk.toString()));
    client.write(`1\r\nb\r\n${END}`);
    await once(request, 'end');
    expect(received.join('')).toBe('ab');
  });

  it('is false when the client leaves before there was anything', async () => {
    const [request, client] = await requestOf(HEAD);
    const isEmpty = isEmptyBody(request);
    client.destroy();
    expect(await isEmpty).toBe(false);
  });

  it('is false when the client has left', async () => {
    const [request, client] = await requestOf(HEAD);
    client.destroy();
    await new Promise((resolve) => request.once('close', resolve));
    expect(await isEmptyBody(request)).toBe(false);
  });

  it('is false of a body that somebody else has read, or is reading', async () => {
    const [read] = await requestOf(`${HEAD}1\r\na\r\n${END}`);
    expect(await text(read)).toBe('a');
    expect(await isEmptyBody(read)).toBe(false);
    const [beingRead, client] = await requestOf(HEAD);
    const reading = text(beingRead.on('data', () => undefined));
    expect(await isEmptyBody(beingRead)).toBe(false);
    client.write(`1\r\na\r\n${END}`);
    expect(await reading).toBe('a');
  });
});
