import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource, EntityManager } from 'typeorm';

import { Executor } from '../core/executor.js';
import type { Observer } from '../core/observation.js';
import type { LeaseKeeper, LeaseRenewal, Report } from '../core/ports.js';
import { Pauses } from '../core/patience.js';
import { LeaseRenewer } from '../maintenance/lease-renewer.js';
import { SWEEP_BATCH, Sweeper } from '../maintenance/sweeper.js';
import { idempotencyEntities } from '../storage/entities/index.js';
import { JoinedTransactions } from '../storage/joined-transactions.js';
import { PostgresBacklog } from '../storage/postgres-backlog.js';
import { PostgresFigures } from '../storage/postgres-figures.js';
import { PostgresOutcomes } from '../storage/postgres-outcomes.js';
import { PostgresRenewal } from '../storage/postgres-renewal.js';
import { recordSweeps } from '../storage/postgres-sweep.js';
import { PostgresStore } from '../storage/postgres-store.js';
import { reachesServerDirectly } from '../storage/prepared-statements.js';
import { Gauges } from '../telemetry/gauges.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { Endpoints } from './endpoints.js';
import { Handlers } from './handlers.js';
import { HttpAttempts } from './http-attempts.js';
import { IdempotencyContext } from './idempotency-context.js';
import { IdempotencyHealth } from './idempotency-health.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { IdempotencyService } from './idempotency.service.js';
import { IdempotentOperations } from './idempotent-operations.js';
import { IdempotencyLifecycle } from './lifecycle.js';
import { loggedReport } from './logged-report.js';
import { ConsumerCheck } from './messages/consumer-check.js';
import { Consumption } from './messages/consumption.js';
import { Holds } from './messages/holds.js';
import { MessageArrivals } from './messages/message-arrivals.js';
import { MessageGates } from './messages/message-gates.js';
import { MicroserviceCheck } from './messages/microservice-check.js';
import { RefusedMessages } from './messages/refused-messages.js';
import { OperationRuns } from './operation-runs.js';
import { outcomeListener } from './outcome-listener.js';
import type { IdempotencyModuleAsyncOptions, IdempotencyModuleOptions } from './options.js';
import { openApiProvider } from './openapi/openapi.provider.js';
import { Reconciliation } from './reconciliation.js';
import type { OperationMeans } from './running-operation.js';
import { RouteCheck } from './route-check.js';
import { moduleSettings, type ModuleSettings } from './settings.js';
import { Tenants } from './tenants.js';
import {
  BACKLOG,
  CONSUMPTION,
  DATA_SOURCE,
  ENDPOINTS,
  EXECUTOR,
  GAUGES,
  HOLDS,
  HTTP_ATTEMPTS,
  MESSAGE_ARRIVALS,
  OBSERVER,
  OPERATION_MEANS,
  OPERATION_RUNS,
  OPTIONS,
  OUTCOMES,
  RENEWAL,
  RENEWER,
  REPORT,
  SETTINGS,
  SWEEPER,
} from './tokens.js';

/** Makes every handler that is decorated with `@Idempotent()` safe to retry. Import it once, in the root module. */
@Module({})
export class IdempotencyModule {
  /**
   * @example
   * ```ts
   * IdempotencyModule.forRoot({ tenant: (context) => context.switchToHttp().getRequest().user.accountId })
   * ```
   */
  static forRoot(options: IdempotencyModuleOptions): DynamicModule {
    return moduleWith(options.dataSource, { provide: OPTIONS, useValue: options });
  }

  /** The same with options that depend on other providers. */
  static forRootAsync({
    imports = [],
    dataSource,
    inject = [],
    useFactory,
  }: IdempotencyModuleAsyncOptions): DynamicModule {
    const options = { provide: OPTIONS, useFactory, inject: [...inject] as never[] };
    const { imports: own = [], ...rest } = moduleWith(dataSource, options);
    return { ...rest, imports: [...own, ...imports] };
  }
}

function moduleWith(dataSource: string | undefined, options: Provider): DynamicModule {
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

const WIRING: Provider[] = [
  { provide: SETTINGS, useFactory: moduleSettings, inject: [OPTIONS] },
  { provide: REPORT, useFactory: loggedReport },
  {
    provide: OBSERVER,
    useFactory: ({ onOutcome }: IdempotencyModuleOptions, report: Report) =>
      new Telemetry(outcomeListener(onOutcome, report)),
    inject: [OPTIONS, REPORT],
  },
  {
    provide: GAUGES,
    useFactory: (dataSource: DataSource, settings: ModuleSettings, report: Report) =>
      new Gauges(new PostgresFigures(dataSource, settings), report),
    inject: [DATA_SOURCE, SETTINGS, REPORT],
  },
  {
    provide: ENDPOINTS,
    useFactory: (options: IdempotencyModuleOptions) => new Endpoints(options),
    inject: [OPTIONS],
  },
  { provide: Tenants, useFactory: (options: IdempotencyModuleOptions) => new Tenants(options), inject: [OPTIONS] },
  {
    provide: HTTP_ATTEMPTS,
    useFactory: (tenants: Tenants, { header }: ModuleSettings) => new HttpAttempts(tenants, header),
    inject: [Tenants, SETTINGS],
  },
  {
    provide: RENEWAL,
    useFactory: (dataSource: DataSource, { statementTimeoutMs }: ModuleSettings) =>
      new PostgresRenewal(dataSource, statementTimeoutMs),
    inject: [DATA_SOURCE, SETTINGS],
  },
  {
    provide: RENEWER,
    useFactory: (renewal: LeaseRenewal, { renewForMs }: ModuleSettings, report: Report) =>
      new LeaseRenewer(renewal, renewForMs, report),
    inject: [RENEWAL, SETTINGS, REPORT],
  },
  {
    provide: OPERATION_MEANS,
    useFactory: (
      dataSource: DataSource,
      { joinedBy }: IdempotencyModuleOptions,
      { providerKeySecret }: ModuleSettings,
      report: Report,
    ): OperationMeans => ({
      providerKeySecret,
      joined: joinedBy && new JoinedTransactions(dataSource, joinedBy, report),
    }),
    inject: [DATA_SOURCE, OPTIONS, SETTINGS, REPORT],
  },
  {
    provide: OPERATION_RUNS,
    useFactory: (executor: Executor<EntityManager>, means: OperationMeans) => new OperationRuns(executor, means),
    inject: [EXECUTOR, OPERATION_MEANS],
  },
  {
    provide: CONSUMPTION,
    useFactory: (runs: OperationRuns, { messages }: IdempotencyModuleOptions, observer: Observer, report: Report) =>
      new Consumption(runs, messages?.onSettled, observer, report),
    inject: [OPERATION_RUNS, OPTIONS, OBSERVER, REPORT],
  },
  { provide: HOLDS, useFactory: () => new Holds() },
  {
    provide: MESSAGE_ARRIVALS,
    useFactory: (
      consumption: Consumption,
      tenants: Tenants,
      holds: Holds,
      { messages }: IdempotencyModuleOptions,
      lifecycle: IdempotencyLifecycle,
      report: Report,
    ) => new MessageArrivals(consumption, tenants, holds, messages?.park, () => lifecycle.started(), report),
    inject: [CONSUMPTION, Tenants, HOLDS, OPTIONS, IdempotencyLifecycle, REPORT],
  },
  {
    provide: SWEEPER,
    useFactory: (dataSource: DataSource, telemetry: Telemetry, report: Report) => {
      const sweeps = recordSweeps(dataSource).map((sweep) => telemetry.counting(sweep));
      return new Sweeper(sweeps, SWEEP_BATCH, new Pauses(), report);
    },
    inject: [DATA_SOURCE, OBSERVER, REPORT],
  },
  { provide: BACKLOG, useFactory: (dataSource: DataSource) => new PostgresBacklog(dataSource), inject: [DATA_SOURCE] },
  {
    provide: OUTCOMES,
    useFactory: (dataSource: DataSource) => new PostgresOutcomes(dataSource),
    inject: [DATA_SOURCE],
  },
  { provide: EXECUTOR, useFactory: executor, inject: [DATA_SOURCE, OPTIONS, SETTINGS, RENEWER, REPORT] },
];

async function executor(
  dataSource: DataSource,
  { preparedStatements }: IdempotencyModuleOptions,
  { acquireTimeoutMs, statementTimeoutMs }: ModuleSettings,
  leases: LeaseKeeper,
  report: Report,
) {
  const areStatementsPrepared = preparedStatements ?? (await reachesServerDirectly(dataSource));
  const store = new PostgresStore(dataSource, { acquireTimeoutMs, statementTimeoutMs, areStatementsPrepared }, report);
  return new Executor(store, leases, report);
}
