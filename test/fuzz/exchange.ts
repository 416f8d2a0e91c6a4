import type { Socket } from 'node:net';
import { dial, type Response, responsesIn } from '../wire/socket.js';
import { headOf, type Message } from './message.js';

/** Far longer than any answer takes: a connection that is still silent by then was left hanging. */
const LIMIT_MS = 20_000;

/**
 * Sends a message and returns the first final answer, or null when the connection was closed without one.
 *
 * `pass` gives the server time to see what it was sent: between the two parts of a message, and before the client hangs
 * up on an endless one.
 */
export async function exchange(
  port: number,
  message: Message,
  mark: string,
  pass: () => Promise<unknown>,
): Promise<Response | null> {
  const socket = await dial(port);
  const answered = answerOn(socket, message.method);
  try {
    await write(socket, message, mark, pass);
    return await answered;
  } finally {
    socket.destroy();
  }
}

async function write(socket: Socket, message: Message, mark: string, pass: () => Promise<unknown>): Promise<void> {
  const { payload, isSplit, isEndless } = message;
  const head = headOf(message, mark);
  if (isSplit) {
    socket.write(head);
    await pass();
    socket.write(payload);
  } else {
    socket.write(Buffer.concat([head, payload]));
  }
  if (!isEndless) return;
  await pass();
  socket.end();
}

function answerOn(socket: Socket, method: string): Promise<Response | null> {
  const received: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The connection was left hanging.')), LIMIT_MS);
    const answer = (): Response | undefined => {
      const bytes = Buffer.concat(received);
      if (!bytes.includes('\r\n\r\n')) return undefined;
      return finalIn(bytes, method);
    };
    const done = (response: Response | null): void => {
      clearTimeout(timer);
      resolve(response);
    };
    socket.on('data', (chunk: Buffer) => {
      received.push(chunk);
      const response = answer();
      if (response?.isWhole && response.header('Content-Length') !== undefined) done(response);
    });
    socket.on('error', () => undefined);
    socket.once('close', () => done(answer() ?? null));
  });
}

function finalIn(bytes: Buffer, method: string): Response | undefined {
  try {
    return responsesIn(bytes, [method]).find(({ status }) => status >= 200);
  } catch {
    // A head that is not complete yet stands behind an interim answer.
    return undefined;
  }
}
