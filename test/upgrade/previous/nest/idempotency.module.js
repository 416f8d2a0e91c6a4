var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
import { Logger, Module } from '@nestjs/common';
import { APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { Executor } from '../core/executor.js';
import { Pauses } from '../core/patience.js';
import { LeaseRenewer } from '../maintenance/lease-renewer.js';
import { Sweeper } from '../maintenance/sweeper.js';
import { idempotencyEntities } from '../storage/entities/index.js';
import { PostgresBacklog } from '../storage/postgres-backlog.js';
import { PostgresRenewal } from '../storage/postgres-renewal.js';
import { PostgresSweep } from '../storage/postgres-sweep.js';
import { PostgresStore } from '../storage/postgres-store.js';
import { reachesServerDirectly } from '../storage/prepared-statements.js';
import { Endpoints } from './endpoints.js';
import { Handlers } from './handlers.js';
import { HttpAttempts } from './http-attempts.js';
import { IdempotencyContext } from './idempotency-context.js';
import { IdempotencyHealth } from './idempotency-health.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { IdempotencyService } from './idempotency.service.js';
import { IdempotentOperations } from './idempotent-operations.js';
import { IdempotencyLifecycle } from './lifecycle.js';
import { ConsumerCheck } from './messages/consumer-check.js';
import { Consumption } from './messages/consumption.js';
import { Holds } from './messages/holds.js';
import { MessageArrivals } from './messages/message-arrivals.js';
import { MessageGates } from './messages/message-gates.js';
import { MicroserviceCheck } from './messages/microservice-check.js';
import { RefusedMessages } from './messages/refused-messages.js';
import { OperationRuns } from './operation-runs.js';
import { openApiProvider } from './openapi/openapi.provider.js';
import { Reconciliation } from './reconciliation.js';
import { RouteCheck } from './route-check.js';
import { moduleSettings } from './settings.js';
import { Tenants } from './tenants.js';
import { BACKLOG, CONSUMPTION, DATA_SOURCE, ENDPOINTS, EXECUTOR, HOLDS, HTTP_ATTEMPTS, MESSAGE_ARRIVALS, OPERATION_RUNS, OPTIONS, RENEWAL, RENEWER, REPORT, SETTINGS, SWEEPER, } from './tokens.js';
let IdempotencyModule = class IdempotencyModule {
    static forRoot(options) {
        return moduleWith(options.dataSource, { provide: OPTIONS, useValue: options });
    }
    static forRootAsync({ imports = [], dataSource, inject = [], useFactory, }) {
        const options = { provide: OPTIONS, useFactory, inject: [...inject] };
        const { imports: own = [], ...rest } = moduleWith(dataSource, options);
        return { ...rest, imports: [...own, ...imports] };
    }
};
IdempotencyModule = __decorate([
    Module({})
], IdempotencyModule);
export { IdempotencyModule };
function moduleWith(dataSource, options) {
    return {
        module: IdempotencyModule,
        global: true,
        imports: [DiscoveryModule, TypeOrmModule.forFeature([...idempotencyEntities], dataSource)],
        providers: [
            options,
            { provide: DATA_SOURCE, useExisting: getDataSourceToken(dataSource) },
            ...WIRING,
            RouteCheck,
            Handlers,
            ConsumerCheck,
            MessageGates,
            MicroserviceCheck,
            RefusedMessages,
            IdempotencyLifecycle,
            IdempotencyContext,
            IdempotencyHealth,
            IdempotentOperations,
            IdempotencyService,
            Reconciliation,
            IdempotencyInterceptor,
            { provide: APP_INTERCEPTOR, useExisting: IdempotencyInterceptor },
            openApiProvider,
        ],
        exports: [IdempotencyContext, IdempotencyHealth, IdempotencyService, IdempotentOperations],
    };
}
const SWEEP_BATCH = 1_000;
const WIRING = [
    { provide: SETTINGS, useFactory: moduleSettings, inject: [OPTIONS] },
    { provide: REPORT, useFactory: loggedReport },
    {
        provide: ENDPOINTS,
        useFactory: (options) => new Endpoints(options),
        inject: [OPTIONS],
    },
    { provide: Tenants, useFactory: (options) => new Tenants(options), inject: [OPTIONS] },
    {
        provide: HTTP_ATTEMPTS,
        useFactory: (tenants, { header }) => new HttpAttempts(tenants, header),
        inject: [Tenants, SETTINGS],
    },
    {
        provide: RENEWAL,
        useFactory: (dataSource, { statementTimeoutMs }) => new PostgresRenewal(dataSource, statementTimeoutMs),
        inject: [DATA_SOURCE, SETTINGS],
    },
    {
        provide: RENEWER,
        useFactory: (renewal, { renewForMs }, report) => new LeaseRenewer(renewal, renewForMs, report),
        inject: [RENEWAL, SETTINGS, REPORT],
    },
    {
        provide: OPERATION_RUNS,
        useFactory: (executor, { providerKeySecret }) => new OperationRuns(executor, providerKeySecret),
        inject: [EXECUTOR, SETTINGS],
    },
    {
        provide: CONSUMPTION,
        useFactory: (runs, { messages }, report) => new Consumption(runs, messages?.onSettled, report),
        inject: [OPERATION_RUNS, OPTIONS, REPORT],
    },
    { provide: HOLDS, useFactory: () => new Holds() },
    {
        provide: MESSAGE_ARRIVALS,
        useFactory: (consumption, tenants, holds, { messages }, lifecycle, report) => new MessageArrivals(consumption, tenants, holds, messages?.park, () => lifecycle.started(), report),
        inject: [CONSUMPTION, Tenants, HOLDS, OPTIONS, IdempotencyLifecycle, REPORT],
    },
    {
        provide: SWEEPER,
        useFactory: (dataSource, report) => new Sweeper(new PostgresSweep(dataSource), SWEEP_BATCH, new Pauses(), report),
        inject: [DATA_SOURCE, REPORT],
    },
    { provide: BACKLOG, useFactory: (dataSource) => new PostgresBacklog(dataSource), inject: [DATA_SOURCE] },
    { provide: EXECUTOR, useFactory: executor, inject: [DATA_SOURCE, OPTIONS, SETTINGS, RENEWER, REPORT] },
];
async function executor(dataSource, { preparedStatements }, { acquireTimeoutMs, statementTimeoutMs }, leases, report) {
    const areStatementsPrepared = preparedStatements ?? (await reachesServerDirectly(dataSource));
    const store = new PostgresStore(dataSource, { acquireTimeoutMs, statementTimeoutMs, areStatementsPrepared }, report);
    return new Executor(store, leases, report);
}
const REPORT_INTERVAL_MS = 1_000;
const MAX_REMEMBERED_REPORTS = 100;
function loggedReport() {
    const logger = new Logger('IdempotencyModule');
    const loggedAt = new Map();
    return (message, error) => {
        const now = performance.now();
        const report = `${message} ${String(error)}`;
        if (now - (loggedAt.get(report) ?? -Infinity) < REPORT_INTERVAL_MS)
            return;
        if (loggedAt.size === MAX_REMEMBERED_REPORTS)
            loggedAt.clear();
        loggedAt.set(report, now);
        logger.warn(error instanceof Error && error.stack ? `${message} ${error.stack}` : report);
    };
}
