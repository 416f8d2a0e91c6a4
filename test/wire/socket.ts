import { connect, type Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

/** A request as it is to stand on the wire. */
export interface Request {
  readonly method?: string;
  readonly path: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** A response as it stood on the wire. */
export interface Response {
  readonly status: number;
  readonly reason: string;
  /** Every line, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The bytes of the body, without transfer coding but in its content coding. */
  readonly payload: Buffer;
  /** The message is complete by its own framing. */
  readonly isWhole: boolean;
  /** The value of the only line of this name. */
  header(name: string): string | undefined;
  /** The body after undoing the content coding. */
  body(): Buffer;
  json(): Record<string, unknown>;
}

/** The bytes of a request. */
export function bytesOf({ method = 'POST', path, key, headers = {}, body }: Request): string {
  const content = body === undefined ? undefined : JSON.stringify(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: wire.test',
    ...(key === undefined ? [] : [`Idempotency-Key: ${key}`]),
    ...(content === undefined
      ? []
      : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(content)}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${content ?? ''}`;
}

/** Opens a connection to the application. */
export function dial(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(socket)).once('error', reject);
  });
}

/** Sends bytes on a connection of their own and reads what comes until the server closes it. */
export async function exchange(port: number, bytes: string | Buffer): Promise<Buffer> {
  const socket = await dial(port);
  socket.write(bytes);
  return readToEnd(socket);
}

/** Everything that is received until the connection is closed, however that happens. */
export function readToEnd(socket: Socket): Promise<Buffer> {
  const received: Buffer[] = [];
  return new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(Buffer.concat(received)));
  });
}

/** Sends one request on a connection of its own and reads its response. */
export async function send(port: number, request: Request): Promise<Response> {
  const headers = { Connection: 'close', ...request.headers };
  const [response] = responsesIn(await exchange(port, bytesOf({ ...request, headers })), [request.method ?? 'POST']);
  if (response === undefined) throw new Error(`${request.path} was closed without an answer.`);
  return response;
}

/** The responses that stand one after the other in what a connection received; interim ones (1xx) included. */
export function responsesIn(bytes: Buffer, methods: readonly string[] = []): Response[] {
  const responses: Response[] = [];
  let answered = 0;
  for (let at = 0; at < bytes.length;) {
    const [response, next] = responseAt(bytes, at, methods[answered]);
    responses.push(response);
    if (response.status >= 200) answered++;
    at = next;
  }
  return responses;
}

function responseAt(bytes: Buffer, start: number, method = 'POST'): [response: Response, next: number] {
  const headEnd = bytes.indexOf('\r\n\r\n', start);
  if (headEnd < 0) throw new Error(`No response begins here: ${bytes.toString('latin1', start, start + 80)}`);
  const [statusLine = '', ...lines] = bytes.toString('latin1', start, headEnd).split('\r\n');
  const [, status = '', reason = ''] = /^HTTP\/1\.1 (\d+) ?(.*)$/.exec(statusLine) ?? [];
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  const valuesOf = (name: string): string[] =>
    headers.filter(([other]) => other.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
  const isBodiless = method === 'HEAD' || Number(status) < 200 || ['204', '304'].includes(status);
  const { payload, isWhole, next } = payloadAt(bytes, headEnd + 4, isBodiless, valuesOf);
  const response: Response = {
    status: Number(status),
    reason,
    headers,
    payload,
    isWhole,
    header: (name) => {
      const values = valuesOf(name);
      if (values.length > 1) throw new Error(`${name} stands there ${values.length} times.`);
      return values[0];
    },
    body: () => (payload.length === 0 ? payload : decoded(payload, valuesOf('Content-Encoding')[0])),
    json: () => JSON.parse(response.body().toString()) as Record<string, unknown>,
  };
  return [response, next];
}

function payloadAt(bytes: Buffer, start: number, isBodiless: boolean, valuesOf: (name: string) => string[]) {
  if (isBodiless) return { payload: Buffer.alloc(0), isWhole: true, next: start };
  const [length] = valuesOf('Content-Length');
  if (valuesOf('Transfer-Encoding')[0] === 'chunked') return chunksAt(bytes, start);
  const end = length === undefined ? bytes.length : Math.min(start + Number(length), bytes.length);
  return {
    payload: bytes.subarray(start, end),
    isWhole: length === undefined || end - start === Number(length),
    next: end,
  };
}

function chunksAt(bytes: Buffer, start: number) {
  const chunks: Buffer[] = [];
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = lineEnd < 0 ? NaN : parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) return { payload: Buffer.concat(chunks), isWhole: false, next: bytes.length };
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
    if (size > 0) continue;
    // Trailers stand where the last chunk's data would.
    const end = bytes.indexOf('\r\n\r\n', lineEnd);
    return { payload: Buffer.concat(chunks), isWhole: end >= 0, next: end < 0 ? bytes.length : end + 4 };
  }
}

function decoded(payload: Buffer, coding: string | undefined): Buffer {
  switch (coding) {
    case undefined:
    case 'identity':
      return payload;
    case 'gzip':
      return gunzipSync(payload);
    case 'deflate':
      return inflateSync(payload);
    case 'br':
      return brotliDecompressSync(payload);
    default:
      throw new Error(`Nobody here can read ${coding}.`);
  }
}
