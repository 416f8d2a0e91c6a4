import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import fastifyCompress from '@fastify/compress';
import fastifyCookie from '@fastify/cookie';
import fastifyHelmet from '@fastify/helmet';
import fastifySession from '@fastify/session';
import { type INestApplication } from '@nestjs/common';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import compression from 'compression';
import session from 'express-session';
import helmet from 'helmet';

const SECRET = 'a secret of at least thirty-two characters';

/** One line of the request log. */
export interface Logged {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly length: string;
}

type Visited = { session?: { visits?: number } };
type Next = () => void;

/** Marks each request with an id; sets it on the response as early as can be. */
function requestId(_: IncomingMessage, res: ServerResponse, next: Next): void {
  res.setHeader('X-Request-Id', randomUUID());
  next();
}

/** Patches `writeHead`, as those do who measure. */
function servedBy(_: IncomingMessage, res: ServerResponse, next: Next): void {
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => ServerResponse;
  res.writeHead = (...args: unknown[]) => {
    res.setHeader('X-Served-By', 'wire');
    return writeHead(...args);
  };
  next();
}

/** Changes the session of every request, so that each has to be stored before its answer ends. */
function visit(req: Visited): void {
  if (req.session) req.session.visits = (req.session.visits ?? 0) + 1;
}

/** Notes which runs have seen their response closed. */
function noteClose(closed: Set<string>) {
  return ({ headers }: IncomingMessage, res: ServerResponse, next: Next): void => {
    const run = headers['x-run'];
    if (run !== undefined) res.on('close', () => closed.add(String(run)));
    next();
  };
}

/** Compression, sessions, CORS, helmet, a request id, a patch over `writeHead` and a request log. */
export function furnishExpress(app: INestApplication, log: Logged[], closed: Set<string>): void {
  app.use(noteClose(closed));
  app.use((req: IncomingMessage, res: ServerResponse, next: Next) => {
    res.on('finish', () => {
      const length = String(res.getHeader('Content-Length') ?? '-');
      log.push({ method: req.method!, url: req.url!, status: res.statusCode, length });
    });
    next();
  });
  app.use(requestId);
  app.enableCors({ origin: 'https://shop.test', credentials: true, exposedHeaders: ['X-Request-Id'] });
  app.use(helmet());
  app.use(servedBy);
  app.use(compression({ threshold: 0 }));
  app.use(session({ secret: SECRET, name: 'sid', resave: false, saveUninitialized: true }));
  app.use((req: Visited, _: ServerResponse, next: Next) => {
    visit(req);
    next();
  });
}

/** The same for Fastify, by its own plugins where there are such. */
export async function furnishFastify(app: NestFastifyApplication, log: Logged[], closed: Set<string>): Promise<void> {
  app.use(noteClose(closed));
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onResponse', (request, reply, done) => {
    const length = String(reply.getHeader('Content-Length') ?? '-');
    log.push({ method: request.method, url: request.url, status: reply.statusCode, length });
    done();
  });
  app.use(requestId);
  app.use(servedBy);
  app.enableCors({ origin: 'https://shop.test', credentials: true, exposedHeaders: ['X-Request-Id'] });
  await app.register(fastifyHelmet);
  await app.register(fastifyCompress, { threshold: 0, encodings: ['gzip'] });
  await app.register(fastifyCookie);
  await app.register(fastifySession, { secret: SECRET, cookieName: 'sid', cookie: { secure: false } });
  fastify.addHook('preHandler', (request, _reply, done) => {
    visit(request as Visited);
    done();
  });
}
