import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DelayedError, type Job, UnrecoverableError, Worker, type WorkerOptions } from 'bullmq';
import { IdempotencyService } from 'nestjs-idempotency';

import { type Booking, Bookings } from './bookings.js';

export const BOOKINGS_QUEUE = Symbol('BOOKINGS_QUEUE');

export interface BookingsQueue extends Pick<WorkerOptions, 'connection' | 'prefix'> {
  readonly name: string;
  /** After this time without a sign of life from its worker a job is given to another, in milliseconds. */
  readonly lockMs: number;
}

/** A job's data is a CloudEvent: the id that BullMQ gives a job is another one where its sender sends it again. */
export interface BookingEvent {
  readonly specversion: '1.0';
  readonly type: string;
  readonly source: string;
  readonly id: string;
  readonly data: Booking;
}

@Injectable()
export class BullBookings implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(BullBookings.name);
  private worker: Worker<BookingEvent> | undefined;

  constructor(
    private readonly idempotency: IdempotencyService,
    private readonly bookings: Bookings,
    @Inject(BOOKINGS_QUEUE) private readonly queue: BookingsQueue,
  ) {}

  onApplicationBootstrap(): void {
    const { name, lockMs, connection, prefix } = this.queue;
    this.worker = new Worker<BookingEvent>(name, (job, token) => this.handle(job, token), {
      connection,
      ...(prefix !== undefined && { prefix }),
      concurrency: 8,
      lockDuration: lockMs,
      stalledInterval: lockMs,
      // How often a job may be begun is counted by `messages.maxTries`, the deaths of its workers included.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
    });
    this.worker.on('error', (error) => this.logger.error('A job could not be taken or settled.', error));
  }

  /** Waits for the jobs under way. */
  async onModuleDestroy(): Promise<void> {
    await this.worker?.close();
  }

  private async handle(job: Job<BookingEvent>, token: string | undefined): Promise<unknown> {
    const settlement = await this.idempotency.consume({ endpoint: 'bookings', payload: job.data }, ({ manager }) =>
      this.bookings.book(job.data.data, manager),
    );
    switch (settlement.kind) {
      case 'acknowledge':
        return 'value' in settlement.outcome ? settlement.outcome.value : null;
      case 'retry':
        // Delayed, not failed: none of the job's attempts is used up.
        await job.moveToDelayed(Date.now() + settlement.afterMs, token);
        throw new DelayedError();
      case 'park':
        throw new UnrecoverableError(settlement.reason);
    }
  }
}
