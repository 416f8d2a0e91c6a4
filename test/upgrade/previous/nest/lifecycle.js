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
import { Inject, Injectable, Logger, } from '@nestjs/common';
import { DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { LeaseRenewer } from '../maintenance/lease-renewer.js';
import { assertSchema } from '../storage/schema-check.js';
import { Endpoints } from './endpoints.js';
import { ConsumerCheck } from './messages/consumer-check.js';
import { Reconciliation } from './reconciliation.js';
import { RouteCheck } from './route-check.js';
import { StrayWrites } from './stray-writes.js';
import { DATA_SOURCE, ENDPOINTS, EXECUTOR, HOLDS, RENEWAL, RENEWER, SETTINGS, SWEEPER } from './tokens.js';
const MAX_TICK_MS = 100;
let IdempotencyLifecycle = class IdempotencyLifecycle {
    constructor(dataSource, settings, endpoints, executor, renewer, renewal, sweeper, holds, routes, consumers, reconciliation, discovery, adapterHost) {
        this.dataSource = dataSource;
        this.settings = settings;
        this.endpoints = endpoints;
        this.executor = executor;
        this.renewer = renewer;
        this.renewal = renewal;
        this.sweeper = sweeper;
        this.holds = holds;
        this.routes = routes;
        this.consumers = consumers;
        this.reconciliation = reconciliation;
        this.discovery = discovery;
        this.adapterHost = adapterHost;
        this.logger = new Logger('IdempotencyModule');
    }
    onApplicationBootstrap() {
        return this.started();
    }
    started() {
        return (this.starting ??= this.start());
    }
    async start() {
        assertHttp1(this.adapterHost);
        this.routes.assertRoutes(this.endpoints);
        await assertSchema(this.dataSource);
        if (this.settings.noticesStrayWrites)
            this.watchStrayWrites();
        for (const note of this.routes.notes(this.endpoints))
            this.logger.log(note);
        for (const warning of this.consumers.warnings(this.endpoints))
            this.logger.warn(warning);
        this.reconciliation.start();
        this.sweepFromTimeToTime();
        const tickMs = Math.min(Math.max(this.endpoints.shortestLeaseMs() / 6, 5), MAX_TICK_MS);
        this.timer = setInterval(() => void this.renewer.renewDue(), tickMs).unref();
    }
    onModuleDestroy() {
        clearTimeout(this.sweepTimer);
        this.reconciliation.stop();
        this.executor.close();
        this.holds.close();
    }
    async beforeApplicationShutdown() {
        await this.sweeper.stop();
        let timer;
        const tooLong = new Promise((resolve) => {
            timer = setTimeout(() => resolve('tooLong'), this.settings.shutdownTimeoutMs);
        });
        const outcome = await Promise.race([this.executor.idle(), tooLong]);
        clearTimeout(timer);
        if (outcome === 'tooLong') {
            this.logger.warn('Shutting down with work still under way; it will be rolled back and can be retried.');
        }
    }
    async onApplicationShutdown() {
        clearInterval(this.timer);
        await this.renewal.close();
    }
    sweepFromTimeToTime() {
        const { sweepEveryMs } = this.settings;
        if (sweepEveryMs === null)
            return;
        const pauseMs = sweepEveryMs * (0.5 + Math.random());
        const sweep = () => void this.sweeper.sweepDue().then(() => this.sweepFromTimeToTime());
        this.sweepTimer = setTimeout(sweep, pauseMs).unref();
    }
    watchStrayWrites() {
        const strayWrites = new StrayWrites((message) => this.logger.warn(message));
        for (const { instance } of this.discovery.getProviders()) {
            if (instance instanceof DataSource)
                strayWrites.watch(instance);
        }
    }
};
IdempotencyLifecycle = __decorate([
    Injectable(),
    __param(0, Inject(DATA_SOURCE)),
    __param(1, Inject(SETTINGS)),
    __param(2, Inject(ENDPOINTS)),
    __param(3, Inject(EXECUTOR)),
    __param(4, Inject(RENEWER)),
    __param(5, Inject(RENEWAL)),
    __param(6, Inject(SWEEPER)),
    __param(7, Inject(HOLDS)),
    __metadata("design:paramtypes", [DataSource, Object, Endpoints, Function, LeaseRenewer, Function, Function, Function, RouteCheck,
        ConsumerCheck,
        Reconciliation,
        DiscoveryService,
        HttpAdapterHost])
], IdempotencyLifecycle);
export { IdempotencyLifecycle };
function assertHttp1({ httpAdapter }) {
    const server = httpAdapter?.getHttpServer();
    if (server?.constructor.name.startsWith('Http2')) {
        throw new Error('nestjs-idempotency does not work on an HTTP/2 server. Let a proxy speak HTTP/2, and the application HTTP/1.1.');
    }
}
