import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { holdResponse } from './held-response.js';
import type { Held, HoldOptions, WireAnswer } from './wire-answer.js';

export type Middleware = (req: IncomingMessage, res: ServerResponse, next: () => void) => void;

/** What an application does with a response, and with everything it sees on the way. */
export type Writer = (res: ServerResponse, note: (seen: string) => void) => unknown;

/** One request held: the attempt as its interceptor would see it. */
export interface Attempt {
  readonly held: Held;
  readonly answers: WireAnswer[];
  readonly told: string[];
  /** Resolves with the first answer. */
  readonly answered: Promise<WireAnswer>;
  /** Runs code as the handler would: in the attempt's async context. */
  inside<T>(work: () => T): T;
}

export function hold(res: ServerResponse, options: Partial<HoldOptions> = {}): Attempt {
  const context = new AsyncLocalStorage<true>();
  const answers: WireAnswer[] = [];
  const told: string[] = [];
  let resolve: (answer: WireAnswer) => void;
  const answered = new Promise<WireAnswer>((done) => (resolve = done));
  const held = holdResponse(res, {
    writesOwnResponse: false,
    isFromAttempt: () => context.getStore() === true,
    onWorkOver: () => void told.push('work over'),
    onForeign: () => void told.push('foreign'),
    onAnswer: (answer) => {
      told.push(answer.kind);
      answers.push(answer);
      resolve(answer);
    },
    ...options,
  });
  return { held, answers, told, answered, inside: (work) => context.run(true, work) };
}

/** Some turns of the event loop: as long as a commit takes, without a clock. */
export async function commit(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await turn();
}

/** Serves one listener for as long as `use` takes. */
export async function serving<T>(listener: RequestListener, use: (port: number) => Promise<T>): Promise<T> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    await once(server.close(), 'close');
  }
}

export const REQUEST = 'POST / HTTP/1.1\r\nHost: example\r\nAccept-Encoding: gzip\r\n\r\n';
const LAST_REQUEST = 'GET /last HTTP/1.1\r\nHost: example\r\nConnection: close\r\n\r\n';

export function open(port: number, request: string = REQUEST): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(request);
  return socket;
}

/** Every byte that comes back until the connection closes. */
export async function bytesFrom(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on('data', (part) => parts.push(part));
  if (!socket.closed) await once(socket, 'close');
  return Buffer.concat(parts)
    .toString('latin1')
    .replace(/^Date: .*\r\n/gim, 'Date: then\r\n');
}

/**
 * The bytes that answer two requests on one connection, the second of which shows that the first was framed well.
 */
export function exchange(listener: RequestListener): Promise<string> {
  return serving(
    (req, res) => {
      if (req.url === '/last') res.end('last');
      else listener(req, res);
    },
    async (port) => bytesFrom(open(port, REQUEST + LAST_REQUEST)),
  );
}
