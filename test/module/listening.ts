import type { AddressInfo } from 'node:net';
import type { DynamicModule, INestApplication, LoggerService, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

/** A response as it came over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export interface Call {
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string | undefined;
  readonly body?: unknown;
}

export interface Listening {
  readonly app: INestApplication;
  readonly port: number;
  post(path: string, call?: Call): Promise<Answer>;
}

/** Everything the application logged, a line each. */
export class Logbook implements LoggerService {
  readonly lines: string[] = [];

  log = (message: unknown): void => this.note('log', message);
  warn = (message: unknown): void => this.note('warn', message);
  error = (message: unknown, ...rest: unknown[]): void => this.note('error', [message, ...rest].join(' '));

  /** The warnings and errors that mention `text`. */
  complaints(text = ''): string[] {
    return this.lines.filter((line) => !line.startsWith('log ') && line.includes(text));
  }

  private note(level: string, message: unknown): void {
    this.lines.push(`${level} ${String(message)}`);
  }
}

/** Starts an application on a port of its own. Rejects, with everything closed again, when it refuses to start. */
export async function listen(
  root: Type | DynamicModule,
  { logbook, configure }: { logbook?: Logbook; configure?: (app: INestApplication) => void } = {},
): Promise<Listening> {
  const app = await NestFactory.create(root, { abortOnError: false, logger: logbook ?? false });
  try {
    configure?.(app);
    await app.listen(0);
  } catch (error) {
    await app.close();
    throw error;
  }
  const { port } = app.getHttpServer().address() as AddressInfo;
  return {
    app,
    port,
    async post(path, { key, body = {}, headers = {} } = {}) {
      const response = await fetch(`http://localhost:${port}${path}`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          ...(key !== undefined && { 'Idempotency-Key': key }),
          ...headers,
        },
        body: JSON.stringify(body),
      });
      return { status: response.status, headers: response.headers, body: await response.text() };
    },
  };
}
