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
import { Injectable, Inject } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { stepRefused } from '../core/errors.js';
import { StepRefusedError } from '../core/steps.js';
import { PROBLEM_TYPE, problemHeaders, problemOf } from '../http/problem.js';
import { recordingOf } from '../http/recording-of.js';
import { Reconciler } from '../maintenance/reconciler.js';
import { runInAttempt } from './attempt-context.js';
import { HandlerRun } from './handler-run.js';
import { reconciledEndpoint } from './reconciles.decorator.js';
import { RunningOperation } from './running-operation.js';
import { BACKLOG, ENDPOINTS, EXECUTOR, REPORT, SETTINGS } from './tokens.js';
let Reconciliation = class Reconciliation {
    constructor(discovery, scanner, endpoints, settings, backlog, executor, report) {
        this.discovery = discovery;
        this.scanner = scanner;
        this.endpoints = endpoints;
        this.settings = settings;
        this.backlog = backlog;
        this.executor = executor;
        this.report = report;
    }
    start() {
        const endpoints = this.reconciledEndpoints();
        const { backlog, executor, report } = this;
        const { reconcileAfterMs, reconcileEveryMs, renewForMs } = this.settings;
        this.reconciler = new Reconciler(backlog, executor, endpoints, reconcileAfterMs, renewForMs, report);
        if (endpoints.size > 0)
            this.timer = setInterval(() => void this.reconcileDue(), reconcileEveryMs).unref();
    }
    stop() {
        clearInterval(this.timer);
    }
    async reconcileDue() {
        return this.reconciler?.reconcileDue() ?? 0;
    }
    reconciledEndpoints() {
        const found = new Map();
        for (const [owner, name, instance, method, of] of this.methods()) {
            const endpoint = this.endpoints.named(of);
            if (!endpoint?.isManual) {
                throw new Error(`${owner}.${name} reconciles '${of}', and there is no handler with \`@Idempotent({ endpoint: '${of}', ` +
                    "transaction: 'manual' })`. Give the handler that name.");
            }
            const { leaseMs, retentionMs } = endpoint;
            found.set(of, { leaseMs, retentionMs, reconcile: this.reconcile(endpoint, method.bind(instance)) });
        }
        return found;
    }
    *methods() {
        for (const { instance, metatype } of this.discovery.getProviders()) {
            if (!metatype || typeof instance !== 'object' || instance === null)
                continue;
            const prototype = Object.getPrototypeOf(instance);
            for (const name of this.scanner.getAllMethodNames(prototype)) {
                const method = prototype[name];
                const endpoint = reconciledEndpoint(method);
                if (endpoint !== undefined)
                    yield [metatype.name, name, instance, method, endpoint];
            }
        }
    }
    reconcile(endpoint, method) {
        const { providerKeySecret, problems } = this.settings;
        return async (execution) => {
            const handle = new RunningOperation(execution, { ...endpoint, providerKeySecret });
            await handle.start();
            try {
                const answer = await runInAttempt(new HandlerRun(this, execution, handle), () => method(handle));
                if (!answer)
                    return { kind: 'release' };
                await handle.seal();
                return await verdict('commit', asWhole(answer), endpoint, execution);
            }
            catch (error) {
                if (!(error instanceof StepRefusedError))
                    throw error;
                await execution.steps.idle();
                if (execution.steps.hasSucceeded)
                    throw error;
                const problem = problemOf(stepRefused(error.step, error), problems);
                const headers = [['Content-Type', PROBLEM_TYPE], ...problemHeaders(problem, problems)];
                const refusal = { kind: 'whole', status: problem.status, headers, body: json(problem) };
                return verdict('refuse', refusal, endpoint, execution);
            }
        };
    }
};
Reconciliation = __decorate([
    Injectable(),
    __param(2, Inject(ENDPOINTS)),
    __param(3, Inject(SETTINGS)),
    __param(4, Inject(BACKLOG)),
    __param(5, Inject(EXECUTOR)),
    __param(6, Inject(REPORT)),
    __metadata("design:paramtypes", [DiscoveryService,
        MetadataScanner, Function, Object, Object, Function, Function])
], Reconciliation);
export { Reconciliation };
async function verdict(kind, answer, { keeping }, { attempt }) {
    return { kind, recording: await recordingOf(answer, answer.status, keeping, attempt.operation) };
}
function asWhole({ status, body, location }) {
    const headers = location === undefined ? [] : [['Location', location]];
    if (body === undefined)
        return { kind: 'whole', status, headers, body: null };
    headers.push(['Content-Type', 'application/json; charset=utf-8']);
    return { kind: 'whole', status, headers, body: json(body) };
}
function json(value) {
    return Buffer.from(JSON.stringify(value));
}
