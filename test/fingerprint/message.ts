import { exchange, type Response, responsesIn } from '../wire/socket.js';

/** A request as it is to stand on the wire, down to its framing. */
export interface Message {
  readonly method?: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Buffer;
  /** How the body's length is told. Default: by Content-Length where there is a body, else not at all. */
  readonly framing?: 'length' | 'chunked';
}

/** The bytes of a message, in UTF-8 where they are not given as bytes. */
export function bytesOf({ method = 'POST', target, headers = [], body, framing }: Message): Buffer {
  const content = Buffer.from(body ?? '');
  const usual = body === undefined ? undefined : 'length';
  const lengthLines = { length: [`Content-Length: ${content.length}`], chunked: ['Transfer-Encoding: chunked'] };
  const used = framing ?? usual;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: fingerprint.test',
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(used ? lengthLines[used] : []),
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return Buffer.concat([head, used === 'chunked' ? chunksOf(content) : content]);
}

/** The content in two chunks, as far as there is enough of it for two. */
function chunksOf(content: Buffer): Buffer {
  const middle = Math.ceil(content.length / 2);
  const halves = [content.subarray(0, middle), content.subarray(middle)].filter(({ length }) => length > 0);
  const chunks = halves.flatMap((half) => [`${half.length.toString(16)}\r\n`, half, '\r\n']);
  return Buffer.concat([...chunks, '0\r\n\r\n'].map((part) => Buffer.from(part as string)));
}

/** Sends a message on a connection of its own and reads its response. */
export async function deliver(port: number, message: Message): Promise<Response> {
  const [response] = responsesIn(await exchange(port, bytesOf(message)), [message.method ?? 'POST']);
  if (response === undefined) throw new Error(`${message.target} was closed without an answer.`);
  return response;
}
