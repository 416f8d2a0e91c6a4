import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Observable, of } from 'rxjs';
import type { DataSource, EntityManager } from 'typeorm';

import { IdempotencyError, type IdempotencyErrorCode, workBroken } from '../core/errors.js';
import type { Executor } from '../core/executor.js';
import { Observation, type Observer } from '../core/observation.js';
import { endingOf } from '../core/outcome.js';
import type { Report } from '../core/ports.js';
import { NO_PATIENCE, type Patience } from '../core/patience.js';
import { refusalOf } from '../core/refusal.js';
import { about } from '../core/report.js';
import { replay } from '../http/wire/replay.js';
import type { OwnAnswer } from '../http/wire/wire-answer.js';
import { currentAttempt } from './attempt-context.js';
import { type Endpoint, Endpoints } from './endpoints.js';
import type { HttpCall } from './http-call.js';
import { endpointOf, HttpAttempts } from './http-attempts.js';
import { type HttpExchange, httpExchange } from './http-exchange.js';
import { HttpRun } from './http-run.js';
import { idempotentMark } from './idempotent.decorator.js';
import { isMessageHandler } from './messages/handler-metadata.js';
import type { MessageArrivals } from './messages/message-arrivals.js';
import { Problems } from './problems.js';
import { Replays } from './replays.js';
import { type Handler, platformOf } from './route-metadata.js';
import type { OperationMeans } from './running-operation.js';
import type { ModuleSettings } from './settings.js';
import { runUnprotected } from './unprotected-run.js';
import {
  DATA_SOURCE,
  ENDPOINTS,
  EXECUTOR,
  HTTP_ATTEMPTS,
  MESSAGE_ARRIVALS,
  OBSERVER,
  OPERATION_MEANS,
  REPORT,
  SETTINGS,
} from './tokens.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** What a caller cannot help: what it was is for the application's log. */
const FAULTS_OF_THE_APPLICATION = new Set<IdempotencyErrorCode>([
  'idempotency-scope-unresolved',
  'idempotency-fingerprint-failed',
]);

/** What was claimed for a request, found again when an outer interceptor runs the rest of the chain once more. */
const RUN = Symbol('nestjs-idempotency.run');

/** Lets each request to an idempotent endpoint, and each message, through to its handler, or answers it from the record. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  private readonly problems: Problems;
  private readonly replays: Replays;

  constructor(
    @Inject(EXECUTOR) private readonly executor: Executor<EntityManager>,
    @Inject(ENDPOINTS) private readonly endpoints: Endpoints,
    @Inject(HTTP_ATTEMPTS) private readonly attempts: HttpAttempts,
    @Inject(SETTINGS) private readonly settings: ModuleSettings,
    @Inject(DATA_SOURCE) private readonly dataSource: DataSource,
    @Inject(OBSERVER) private readonly observer: Observer,
    @Inject(OPERATION_MEANS) private readonly means: OperationMeans,
    @Inject(REPORT) private readonly report: Report,
    @Inject(MESSAGE_ARRIVALS) private readonly messages: MessageArrivals,
    private readonly adapterHost: HttpAdapterHost,
  ) {
    this.problems = new Problems(settings.problems);
    this.replays = new Replays(this.problems, report);
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> | Promise<Observable<unknown>> {
    const handler = context.getHandler() as Handler;
    const mark = idempotentMark(handler);
    if (!mark) return next.handle();
    if (context.getType() !== 'http') {
      if (!isMessageHandler(handler)) return next.handle();
      return this.messages.arrive(context, this.endpoints.of(context.getClass(), handler, mark), next);
    }
    const exchange = httpExchange(platformOf(this.adapterHost.httpAdapter), context);
    if (SAFE_METHODS.has(exchange.content.method)) return next.handle();
    const call = { context, exchange, endpoint: this.endpoints.of(context.getClass(), handler, mark) };
    return this.arrive(call, next).catch((error: unknown) => {
      if (!(error instanceof IdempotencyError)) throw error;
      if (FAULTS_OF_THE_APPLICATION.has(error.code)) {
        this.report(error.message, error.cause, { endpoint: endpointOf(call) });
      }
      throw this.problems.exception(error, exchange);
    });
  }

  private async arrive(call: HttpCall, next: CallHandler): Promise<Observable<unknown>> {
    const { exchange, endpoint } = call;
    const request = exchange.request as HttpExchange['request'] & { [RUN]?: HttpRun };
    const earlier = request[RUN];
    if (earlier && earlier === currentAttempt()?.owner) return next.handle();
    if (earlier?.canRunAgain) return earlier.run(next);

    const observation = new Observation(this.observer, 'http', endpointOf(call));
    const attempt = await observation.identify(() => this.attempts.attemptOf(call));
    if (attempt === null) return this.runUnprotected(endpoint, observation, next);
    const arrival = await this.executor.arrive(attempt, patienceOf(exchange, endpoint), observation);
    switch (arrival.kind) {
      case 'claimed': {
        const { execution } = arrival;
        const { means, problems, replays } = this;
        const report = about(this.report, attempt.operation);
        if (exchange.response.headersSent) {
          await execution.settle({ kind: 'release', ending: { outcome: 'not_entered' } });
          throw workBroken('The request was answered while it waited for its claim; the handler is not run.');
        }
        return (request[RUN] = new HttpRun(execution, call, means, problems, replays, report)).run(next);
      }
      case 'replay': {
        const { recording } = arrival;
        const answer = await observation.replaying(() => this.replays.answerOf(recording, attempt.operation, call));
        await this.replay(answer, call);
        // Outer interceptors see a normal end; whatever Nest does with it finds the response sealed.
        return of(undefined);
      }
      default:
        throw refusalOf(arrival);
    }
  }

  private async runUnprotected(
    { strategy }: Endpoint,
    observation: Observation,
    next: CallHandler,
  ): Promise<Observable<unknown>> {
    const connection = { ...this.settings, areStatementsPrepared: false };
    const isolation = strategy.kind === 'transaction' ? strategy.isolation : 'READ COMMITTED';
    try {
      const { dataSource } = this;
      const report = about(this.report, { endpoint: observation.endpoint });
      const terms = { connection, isolation, joined: this.means.joined };
      const answer = await this.executor.accompany(() => runUnprotected(dataSource, terms, next, report));
      observation.end({ outcome: 'unprotected' });
      return answer;
    } catch (error) {
      observation.end(endingOf(error, 'unprotected'));
      throw error;
    }
  }

  private async replay(answer: OwnAnswer, { exchange, endpoint }: HttpCall): Promise<void> {
    // Whoever answered while we were waiting has answered for good.
    if (exchange.response.headersSent) return;
    const extraHeaders = exchange.pendingHeaders();
    exchange.takeOver();
    await replay(exchange.response, answer, { extraHeaders, declaredHeaders: endpoint.declaredHeaders });
  }
}

/** How long a duplicate waits here, at most until its client leaves or somebody else answers it. */
function patienceOf({ request, response }: HttpExchange, { patienceMs }: Endpoint): Patience {
  if (patienceMs === 0) return NO_PATIENCE;
  const over = new AbortController();
  // A response that waits behind another one on its connection is not told that the connection is gone.
  const { socket } = request;
  const end = (): void => {
    socket.off('close', end);
    over.abort();
  };
  if (response.closed || socket.destroyed) over.abort();
  else {
    response.once('close', end);
    socket.once('close', end);
  }
  return { patienceMs, signal: over.signal };
}
