import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Observable, of } from 'rxjs';
import type { DataSource, EntityManager } from 'typeorm';

import { IdempotencyError, workBroken } from '../core/errors.js';
import type { Executor } from '../core/executor.js';
import type { Report } from '../core/ports.js';
import { refusalOf } from '../http/refusal.js';
import { replay, replayOf } from '../http/wire/replay.js';
import type { Recording } from '../core/recording.js';
import { currentAttempt } from './attempt-context.js';
import { type Endpoint, Endpoints } from './endpoints.js';
import { HttpAttempts } from './http-attempts.js';
import { type HttpExchange, httpExchange } from './http-exchange.js';
import { HttpRun } from './http-run.js';
import { idempotentMark } from './idempotent.decorator.js';
import type { ModuleSettings } from './options.js';
import { Problems } from './problems.js';
import { type Handler, platformOf } from './route-metadata.js';
import { runUnprotected } from './unprotected-run.js';
import { DATA_SOURCE, ENDPOINTS, EXECUTOR, HTTP_ATTEMPTS, REPORT, SETTINGS } from './tokens.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** What was claimed for a request, found again when an outer interceptor runs the rest of the chain once more. */
const RUN = Symbol('nestjs-idempotency.run');

/** Lets each request to an idempotent endpoint through to its handler, or answers it from the record. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  private readonly problems: Problems;

  constructor(
    @Inject(EXECUTOR) private readonly executor: Executor<EntityManager>,
    @Inject(ENDPOINTS) private readonly endpoints: Endpoints,
    @Inject(HTTP_ATTEMPTS) private readonly attempts: HttpAttempts,
    @Inject(SETTINGS) private readonly settings: ModuleSettings,
    @Inject(DATA_SOURCE) private readonly dataSource: DataSource,
    @Inject(REPORT) private readonly report: Report,
    private readonly adapterHost: HttpAdapterHost,
  ) {
    this.problems = new Problems(settings.problems);
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> | Promise<Observable<unknown>> {
    if (context.getType() !== 'http') return next.handle();
    const handler = context.getHandler() as Handler;
    const mark = idempotentMark(handler);
    if (!mark) return next.handle();
    const exchange = httpExchange(platformOf(this.adapterHost.httpAdapter), context);
    if (SAFE_METHODS.has(exchange.content.method)) return next.handle();
    const endpoint = this.endpoints.of(context.getClass(), handler, mark);
    return this.arrive(context, exchange, endpoint, next).catch((error: unknown) => {
      throw error instanceof IdempotencyError ? this.problems.exception(error, exchange) : error;
    });
  }

  private async arrive(
    context: ExecutionContext,
    exchange: HttpExchange,
    endpoint: Endpoint,
    next: CallHandler,
  ): Promise<Observable<unknown>> {
    const request = exchange.request as HttpExchange['request'] & { [RUN]?: HttpRun };
    const earlier = request[RUN];
    if (earlier && earlier === currentAttempt()) return next.handle();
    if (earlier?.canRunAgain) return earlier.run(next);

    const attempt = await this.attempts.attemptOf(context, exchange, endpoint);
    if (attempt === null) return runUnprotected(this.dataSource, next, this.report);
    const arrival = await this.executor.arrive(attempt);
    if (arrival.kind === 'claimed') {
      if (exchange.response.headersSent) {
        await arrival.execution.settle({ kind: 'release' });
        throw workBroken('The request was answered while it waited for its claim; the handler is not run.');
      }
      const { recordingLimitBytes } = this.settings;
      const run = new HttpRun(arrival.execution, exchange, endpoint, recordingLimitBytes, this.problems, this.report);
      request[RUN] = run;
      return run.run(next);
    }
    const refusal = refusalOf(arrival);
    if (refusal) throw refusal;
    if (arrival.kind === 'replay') await this.replay(arrival.recording, exchange, endpoint);
    // Outer interceptors see a normal end; whatever Nest does with it finds the response sealed.
    return of(undefined);
  }

  private async replay(recording: Recording, exchange: HttpExchange, { declaredHeaders }: Endpoint): Promise<void> {
    const extraHeaders = exchange.pendingHeaders();
    exchange.takeOver();
    await replay(exchange.response, replayOf(recording), { extraHeaders, declaredHeaders });
  }
}
