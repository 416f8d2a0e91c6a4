var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
var __param = (this && this.__param) || function (paramIndex, decorator) {
    return function (target, key) { decorator(target, key, paramIndex); }
};
import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { of } from 'rxjs';
import { IdempotencyError, workBroken } from '../core/errors.js';
import { NO_PATIENCE } from '../core/patience.js';
import { refusalOf } from '../core/refusal.js';
import { replay } from '../http/wire/replay.js';
import { currentAttempt } from './attempt-context.js';
import { Endpoints } from './endpoints.js';
import { HttpAttempts } from './http-attempts.js';
import { httpExchange } from './http-exchange.js';
import { HttpRun } from './http-run.js';
import { idempotentMark } from './idempotent.decorator.js';
import { isMessageHandler } from './messages/handler-metadata.js';
import { Problems } from './problems.js';
import { Replays } from './replays.js';
import { platformOf } from './route-metadata.js';
import { runUnprotected } from './unprotected-run.js';
import { DATA_SOURCE, ENDPOINTS, EXECUTOR, HTTP_ATTEMPTS, MESSAGE_ARRIVALS, REPORT, SETTINGS } from './tokens.js';
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
const FAULTS_OF_THE_APPLICATION = new Set([
    'idempotency-scope-unresolved',
    'idempotency-fingerprint-failed',
]);
const RUN = Symbol('nestjs-idempotency.run');
let IdempotencyInterceptor = class IdempotencyInterceptor {
    constructor(executor, endpoints, attempts, settings, dataSource, report, messages, adapterHost) {
        this.executor = executor;
        this.endpoints = endpoints;
        this.attempts = attempts;
        this.settings = settings;
        this.dataSource = dataSource;
        this.report = report;
        this.messages = messages;
        this.adapterHost = adapterHost;
        this.problems = new Problems(settings.problems);
        this.replays = new Replays(this.problems, report);
    }
    intercept(context, next) {
        const handler = context.getHandler();
        const mark = idempotentMark(handler);
        if (!mark)
            return next.handle();
        if (context.getType() !== 'http') {
            if (!isMessageHandler(handler))
                return next.handle();
            return this.messages.arrive(context, this.endpoints.of(context.getClass(), handler, mark), next);
        }
        const exchange = httpExchange(platformOf(this.adapterHost.httpAdapter), context);
        if (SAFE_METHODS.has(exchange.content.method))
            return next.handle();
        const call = { context, exchange, endpoint: this.endpoints.of(context.getClass(), handler, mark) };
        return this.arrive(call, next).catch((error) => {
            if (!(error instanceof IdempotencyError))
                throw error;
            if (FAULTS_OF_THE_APPLICATION.has(error.code))
                this.report(error.message, error.cause);
            throw this.problems.exception(error, exchange);
        });
    }
    async arrive(call, next) {
        const { exchange, endpoint } = call;
        const request = exchange.request;
        const earlier = request[RUN];
        if (earlier && earlier === currentAttempt()?.owner)
            return next.handle();
        if (earlier?.canRunAgain)
            return earlier.run(next);
        const attempt = await this.attempts.attemptOf(call);
        if (attempt === null) {
            const connection = { ...this.settings, areStatementsPrepared: false };
            const { strategy } = endpoint;
            const isolation = strategy.kind === 'transaction' ? strategy.isolation : 'READ COMMITTED';
            return this.executor.accompany(() => runUnprotected(this.dataSource, connection, isolation, next, this.report));
        }
        const arrival = await this.executor.arrive(attempt, patienceOf(exchange, endpoint));
        switch (arrival.kind) {
            case 'claimed': {
                const { execution } = arrival;
                const { providerKeySecret: secret } = this.settings;
                if (exchange.response.headersSent) {
                    await execution.settle({ kind: 'release' });
                    throw workBroken('The request was answered while it waited for its claim; the handler is not run.');
                }
                return (request[RUN] = new HttpRun(execution, call, secret, this.problems, this.replays, this.report)).run(next);
            }
            case 'replay':
                await this.replay(await this.replays.answerOf(arrival.recording, attempt.operation, call), call);
                return of(undefined);
            default:
                throw refusalOf(arrival);
        }
    }
    async replay(answer, { exchange, endpoint }) {
        if (exchange.response.headersSent)
            return;
        const extraHeaders = exchange.pendingHeaders();
        exchange.takeOver();
        await replay(exchange.response, answer, { extraHeaders, declaredHeaders: endpoint.declaredHeaders });
    }
};
IdempotencyInterceptor = __decorate([
    Injectable(),
    __param(0, Inject(EXECUTOR)),
    __param(1, Inject(ENDPOINTS)),
    __param(2, Inject(HTTP_ATTEMPTS)),
    __param(3, Inject(SETTINGS)),
    __param(4, Inject(DATA_SOURCE)),
    __param(5, Inject(REPORT)),
    __param(6, Inject(MESSAGE_ARRIVALS)),
    __metadata("design:paramtypes", [Function, Endpoints,
        HttpAttempts, Object, Function, Function, Function, HttpAdapterHost])
], IdempotencyInterceptor);
export { IdempotencyInterceptor };
function patienceOf({ request, response }, { patienceMs }) {
    if (patienceMs === 0)
        return NO_PATIENCE;
    const over = new AbortController();
    const { socket } = request;
    const end = () => {
        socket.off('close', end);
        over.abort();
    };
    if (response.closed || socket.destroyed)
        over.abort();
    else {
        response.once('close', end);
        socket.once('close', end);
    }
    return { patienceMs, signal: over.signal };
}
