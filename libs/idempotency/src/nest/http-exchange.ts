import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

import type { ExecutionContext } from '@nestjs/common';

import { markReplySent } from '../http/wire/reply-sent.js';
import type { Held } from '../http/wire/wire-answer.js';
import type { RequestContent } from '../http/request-content.js';
import { type Problem, PROBLEM_TYPE } from '../http/problem.js';
import type { RecordedHeader } from '../core/recording.js';
import {
  type Checkpoint,
  checkpointOf,
  type HeaderAccess,
  type HeaderValue,
  rememberHeaders,
  rememberStatus,
} from './checkpoint.js';
import type { Platform } from './route-metadata.js';

/** One request and its response, the same on both platforms. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly content: RequestContent;
  /** The status the answer would have now. */
  status(): number;
  /** Headers that the platform keeps above the raw response until it answers. */
  pendingHeaders(): OutgoingHttpHeaders;
  /** The headers the answer would have now. */
  headers(): OutgoingHttpHeaders;
  /** The Content-Type of a returned text. */
  readonly textType: string;
  /** Writes an object as the platform would. */
  toJson(value: object): string | undefined;
  /** Remembers what the handler is given, and what it can set on the answer; null where that cannot be remembered. */
  checkpoint(): Checkpoint | null;
  /** Prepares the answer for a problem that one of the application's filters is about to give, or something else. */
  announce(problem: Problem, headers: readonly RecordedHeader[]): void;
  /** Takes back what was announced: the handler is run again. */
  withdraw(): void;
  /** Tells the platform that the answer is written past it. */
  takeOver(): void;
  /** Tells the platform what it would otherwise ask of the raw response, which is held. */
  holdWith(held: Held): void;
}

export function httpExchange(platform: Platform, context: ExecutionContext): HttpExchange {
  const http = context.switchToHttp();
  return platform === 'express'
    ? expressExchange(http.getRequest(), http.getResponse())
    : fastifyExchange(http.getRequest(), http.getResponse());
}

/** What this file knows of Express 4 and 5. */
type ExpressRequest = IncomingMessage & {
  readonly baseUrl: string;
  readonly route: { readonly path: string };
  readonly params: unknown;
  readonly query: unknown;
  /** Set by Nest where a controller answers for some hosts only. */
  readonly hosts?: unknown;
  readonly body?: unknown;
  readonly rawBody?: unknown;
  /** Express 4: set by its parsers on what they have read. */
  readonly _body?: boolean;
};

type ExpressResponse = ServerResponse & {
  json: (body: unknown) => unknown;
  readonly app: { get(setting: string): unknown };
};

function expressExchange(request: ExpressRequest, response: ExpressResponse): HttpExchange {
  const pattern = `${request.baseUrl}${request.route.path}`;
  let withdraw = nothingToWithdraw;
  const access: HeaderAccess = {
    get: (name) => response.getHeader(name),
    set: (name, value) => response.setHeader(name, value),
    remove: (name) => response.removeHeader(name),
  };
  return {
    request,
    response,
    content: contentOf(request, pattern, request, expressBody(request)),
    status: () => response.statusCode,
    pendingHeaders: () => ({}),
    headers: () => response.getHeaders(),
    textType: 'text/html; charset=utf-8',
    toJson: (value) => expressJson(value, response.app),
    checkpoint: () =>
      checkpointOf(request, request, [
        rememberHeaders(() => response.getHeaders(), access),
        rememberStatus(response, response),
      ]),
    announce: (problem, headers) => {
      withdraw = setHeaders(headers, access);
      const { json } = response;
      response.json = (body) => {
        if (body === problem) response.setHeader('Content-Type', PROBLEM_TYPE);
        return json.call(response, body);
      };
    },
    withdraw: () => withdraw(),
    takeOver: () => undefined,
    holdWith: () => undefined,
  };
}

/** The parsed body; undefined where there is none or nothing has parsed it, for which Express 4 leaves an empty object. */
function expressBody(request: ExpressRequest): unknown {
  const { body, _body } = request;
  const isExpress4 = 'param' in request;
  if (!isExpress4 || (_body && announcesBody(request))) return body;
  const isEmpty = typeof body === 'object' && body !== null && Object.keys(body).length === 0;
  return isEmpty ? undefined : body;
}

/** What this file knows of Fastify 4 and 5. */
interface FastifyRequest {
  readonly raw: IncomingMessage;
  readonly routeOptions: { readonly url?: string };
  readonly params: unknown;
  readonly query: unknown;
  /** Set by Nest where a controller answers for some hosts only. */
  readonly hosts?: unknown;
  readonly body?: unknown;
  readonly rawBody?: unknown;
}

interface FastifyReply {
  readonly raw: ServerResponse;
  statusCode: number;
  getHeaders(): OutgoingHttpHeaders;
  getHeader(name: string): HeaderValue | undefined;
  header(name: string, value: HeaderValue): unknown;
  removeHeader(name: string): unknown;
  serialize(payload: unknown): unknown;
  hijack(): unknown;
  send: (payload?: unknown) => unknown;
}

function fastifyExchange(request: FastifyRequest, reply: FastifyReply): HttpExchange {
  let withdraw = nothingToWithdraw;
  const access: HeaderAccess = {
    get: (name) => reply.getHeader(name),
    set: (name, value) => reply.header(name, value),
    remove: (name) => reply.removeHeader(name),
  };
  return {
    request: request.raw,
    response: reply.raw,
    content: contentOf(request.raw, request.routeOptions.url ?? '', request, request.body),
    status: () => reply.statusCode,
    pendingHeaders: () => reply.getHeaders(),
    headers: () => reply.getHeaders(),
    textType: 'text/plain; charset=utf-8',
    toJson: (value) => String(reply.serialize(value)),
    checkpoint: () =>
      checkpointOf(request, request.raw, [
        rememberHeaders(() => reply.getHeaders(), access),
        rememberStatus(reply, reply.raw),
      ]),
    announce: (problem, headers) => {
      withdraw = setHeaders(headers, access);
      const { send } = reply;
      reply.send = (payload) => {
        if (payload === problem) reply.header('Content-Type', PROBLEM_TYPE);
        return send.call(reply, payload);
      };
    },
    withdraw: () => withdraw(),
    takeOver: () => {
      reply.hijack();
      // Nest will still reply with what the interceptors return; Fastify would log that as a mistake.
      reply.send = sendNothing;
    },
    holdWith: (held) => markReplySent(reply, held),
  };
}

const nothingToWithdraw = (): void => undefined;

/** Sets the headers; the returned function puts back what was there before. */
function setHeaders(headers: readonly RecordedHeader[], access: HeaderAccess): () => void {
  const before = headers.map(([name]) => [name, access.get(name)] as const);
  for (const [name, value] of headers) access.set(name, value);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) access.remove(name);
      else access.set(name, value);
    }
  };
}

/** What `response.json()` writes: by the application's own settings. */
function expressJson(value: object, app: ExpressResponse['app']): string | undefined {
  const replacer = app.get('json replacer') as ((name: string, value: unknown) => unknown) | undefined;
  const text = JSON.stringify(value, replacer, app.get('json spaces') as number | undefined) as string | undefined;
  if (!app.get('json escape')) return text;
  return text?.replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}

function sendNothing(this: FastifyReply): FastifyReply {
  return this;
}

function contentOf(
  raw: IncomingMessage,
  pattern: string,
  { params, query, hosts, rawBody }: Pick<ExpressRequest | FastifyRequest, 'params' | 'query' | 'hosts' | 'rawBody'>,
  body: unknown,
): RequestContent {
  return {
    method: raw.method ?? '',
    pattern,
    params,
    query,
    hosts,
    rawHeaders: raw.rawHeaders,
    contentType: raw.headers['content-type'],
    hasBody: announcesBody(raw),
    body,
    rawBody,
  };
}

/** Whether a body comes after the headers (RFC 9112, section 6.3); a chunked one can turn out to be empty. */
function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
