import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import { DataSource, type EntityManager } from 'typeorm';

import type { Executor } from '../core/executor.js';
import { LeaseRenewer } from '../maintenance/lease-renewer.js';
import type { Sweeper } from '../maintenance/sweeper.js';
import type { PostgresRenewal } from '../storage/postgres-renewal.js';
import { assertAccess } from '../storage/access-check.js';
import { assertSchema } from '../storage/schema-check.js';
import type { Gauges } from '../telemetry/gauges.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { Endpoints } from './endpoints.js';
import { ConsumerCheck } from './messages/consumer-check.js';
import type { Holds } from './messages/holds.js';
import { Reconciliation } from './reconciliation.js';
import { RouteCheck } from './route-check.js';
import type { ModuleSettings } from './settings.js';
import { StrayWrites } from './stray-writes.js';
import {
  DATA_SOURCE,
  ENDPOINTS,
  EXECUTOR,
  GAUGES,
  HOLDS,
  OBSERVER,
  RENEWAL,
  RENEWER,
  SETTINGS,
  SWEEPER,
} from './tokens.js';

/** The longest time between two looks at the leases, in milliseconds: plain code may ask for one that is short. */
const MAX_TICK_MS = 100;

/** Starts and stops with the application: what must be true before the first request, what must be over after the last. */
@Injectable()
export class IdempotencyLifecycle
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly logger = new Logger('IdempotencyModule');
  private timer: NodeJS.Timeout | undefined;
  private sweepTimer: NodeJS.Timeout | undefined;
  private starting: Promise<void> | undefined;

  constructor(
    @Inject(DATA_SOURCE) private readonly dataSource: DataSource,
    @Inject(SETTINGS) private readonly settings: ModuleSettings,
    @Inject(ENDPOINTS) private readonly endpoints: Endpoints,
    @Inject(EXECUTOR) private readonly executor: Executor<EntityManager>,
    @Inject(RENEWER) private readonly renewer: LeaseRenewer,
    @Inject(RENEWAL) private readonly renewal: PostgresRenewal,
    @Inject(SWEEPER) private readonly sweeper: Sweeper,
    @Inject(HOLDS) private readonly holds: Holds,
    @Inject(OBSERVER) private readonly telemetry: Telemetry,
    @Inject(GAUGES) private readonly gauges: Gauges,
    private readonly routes: RouteCheck,
    private readonly consumers: ConsumerCheck,
    private readonly reconciliation: Reconciliation,
    private readonly discovery: DiscoveryService,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  onApplicationBootstrap(): Promise<void> {
    return this.started();
  }

  /**
   * Resolves once what must be true has been found to be so, and rejects where it is not.
   *
   * A hybrid application may start its microservices, and be delivered messages, before it is initialised.
   */
  started(): Promise<void> {
    return (this.starting ??= this.start());
  }

  private async start(): Promise<void> {
    assertHttp1(this.adapterHost);
    this.routes.assertRoutes(this.endpoints);
    await assertSchema(this.dataSource);
    await assertAccess(this.dataSource);
    if (this.settings.noticesStrayWrites) this.watchStrayWrites();
    for (const note of this.routes.notes(this.endpoints)) this.logger.log(note);
    for (const warning of this.consumers.warnings(this.endpoints)) this.logger.warn(warning);
    this.gauges.start(this.telemetry.meter, this.telemetry.observeOldestAge);
    this.reconciliation.start();
    this.sweepFromTimeToTime();
    const tickMs = Math.min(Math.max(this.endpoints.shortestLeaseMs() / 6, 5), MAX_TICK_MS);
    this.timer = setInterval(() => void this.renewer.renewDue(), tickMs).unref();
  }

  onModuleDestroy(): void {
    clearTimeout(this.sweepTimer);
    this.reconciliation.stop();
    this.executor.close();
    this.holds.close();
  }

  async beforeApplicationShutdown(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<'tooLong'>((resolve) => {
      timer = setTimeout(() => resolve('tooLong'), this.settings.shutdownTimeoutMs);
    });
    const atRest = Promise.all([this.executor.idle(), this.sweeper.stop(), this.gauges.stop()]);
    const outcome = await Promise.race([atRest, tooLong]);
    clearTimeout(timer);
    if (outcome === 'tooLong') {
      this.logger.warn('Shutting down with work still under way; it will be rolled back and can be retried.');
    }
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.renewal.close();
  }

  /** Each time after a pause of its own, so that processes which were started together do not all sweep at once. */
  private sweepFromTimeToTime(): void {
    const { sweepEveryMs } = this.settings;
    if (sweepEveryMs === null) return;
    const pauseMs = sweepEveryMs * (0.5 + Math.random());
    const sweep = (): void => void this.sweeper.sweepDue().then(() => this.sweepFromTimeToTime());
    this.sweepTimer = setTimeout(sweep, pauseMs).unref();
  }

  private watchStrayWrites(): void {
    const strayWrites = new StrayWrites((message) => this.logger.warn(message));
    for (const { instance } of this.discovery.getProviders()) {
      if (instance instanceof DataSource) strayWrites.watch(instance);
    }
  }
}

/** A response of HTTP/2 is of another kind, which cannot be held. */
function assertHttp1({ httpAdapter }: HttpAdapterHost): void {
  const server: unknown = httpAdapter?.getHttpServer();
  if (server?.constructor.name.startsWith('Http2')) {
    throw new Error(
      'nestjs-idempotency does not work on an HTTP/2 server. Let a proxy speak HTTP/2, and the application HTTP/1.1.',
    );
  }
}
