import { setTimeout } from 'node:timers/promises';
import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { IdempotencyService, type Settlement } from 'nestjs-idempotency';
import PgBoss from 'pg-boss';
import { DataSource } from 'typeorm';

import { type Booking, Bookings } from './bookings.js';

export const BOOKINGS_JOBS = Symbol('BOOKINGS_JOBS');

export interface BookingsJobs {
  /** A queue with a dead letter queue, and a high `retryLimit`: the deaths of its workers count there. */
  readonly queue: string;
  readonly deadLetters: string;
}

/** A job's data is a CloudEvent: the id that pg-boss gives a job is another one where its sender sends it again. */
export interface BookingEvent {
  readonly specversion: '1.0';
  readonly type: string;
  readonly source: string;
  readonly id: string;
  readonly data: Booking;
}

const BATCH_SIZE = 8;
const POLL_EVERY_MS = 500;

@Injectable()
export class BossBookings implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(BossBookings.name);
  private readonly stopping = new AbortController();
  private loop = Promise.resolve();

  constructor(
    private readonly idempotency: IdempotencyService,
    private readonly bookings: Bookings,
    private readonly boss: PgBoss,
    /** Of the database that the jobs are in. */
    private readonly dataSource: DataSource,
    @Inject(BOOKINGS_JOBS) private readonly jobs: BookingsJobs,
  ) {}

  onApplicationBootstrap(): void {
    this.loop = this.handleAll();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  /** Not by `boss.work()`: that completes a whole batch, whatever has become of its jobs since. */
  private async handleAll(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const jobs = await this.boss.fetch<BookingEvent>(this.jobs.queue, { batchSize: BATCH_SIZE });
      if (jobs.length === 0) await setTimeout(POLL_EVERY_MS, undefined, { signal }).catch(() => undefined);
      await Promise.all(jobs.map((job) => this.handle(job)));
    }
  }

  private async handle(job: PgBoss.Job<BookingEvent>): Promise<void> {
    try {
      const settlement = await this.idempotency.consume({ endpoint: 'bookings', payload: job.data }, ({ manager }) =>
        this.bookings.book(job.data.data, manager),
      );
      await this.settle(job, settlement);
    } catch (error) {
      this.logger.error(`Job ${job.id} could not be settled; it comes back when it has expired.`, error);
    }
  }

  private async settle({ id, data }: PgBoss.Job<BookingEvent>, settlement: Settlement): Promise<void> {
    const { queue, deadLetters } = this.jobs;
    switch (settlement.kind) {
      case 'acknowledge':
        await this.boss.complete(queue, id);
        return;
      case 'retry':
        // Put back under its id instead of failed: none of its retries is used up, and its pause is the one asked for.
        // What else its sender said of it, such as a priority, has to be said again here.
        await this.replace(id, queue, { id, startAfter: settlement.afterMs / 1_000 }, data);
        return;
      case 'park':
        await this.replace(id, deadLetters, {}, data);
    }
  }

  /** Takes the job off its queue and puts it on a queue, both or neither. */
  private async replace(id: string, queue: string, options: PgBoss.SendOptions, data: BookingEvent): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      const db: PgBoss.Db = {
        executeSql: async (text, values) => ({ rows: await manager.query(text, values) }),
      };
      await this.boss.deleteJob(this.jobs.queue, id, { db });
      await this.boss.send(queue, data, { ...options, db });
    });
  }
}
