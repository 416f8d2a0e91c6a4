import { Queue } from 'bullmq';
import { Redis } from 'ioredis';

import type { Broker, BullPlace, Message } from '../broker.js';
import type { BookingEvent } from '../consumers/bullmq.js';
import { brokerUrl } from '../urls.js';
import { bookingEvent } from '../booking-event.js';

const MOST = 1_000;

export class BullBroker implements Broker {
  private deliveries = 0;

  private constructor(
    readonly place: BullPlace,
    private readonly queue: Queue<BookingEvent>,
  ) {}

  /** `redeliverMs`: after this time without a sign of life from its worker a job is given to another. */
  static open(name: string, redeliverMs: number): Promise<BullBroker> {
    const place: BullPlace = {
      transport: 'bullmq',
      url: brokerUrl('REDIS_URL'),
      prefix: name,
      name: 'bookings',
      lockMs: redeliverMs,
    };
    const queue = new Queue<BookingEvent>(place.name, { connection: { url: place.url }, prefix: name });
    return Promise.resolve(new BullBroker(place, queue));
  }

  async send(messages: readonly Message[]): Promise<void> {
    await this.queue.addBulk(
      messages.map((message) => ({
        name: 'booking',
        data: bookingEvent(message),
        // One for each delivery, from which its booking can be told.
        opts: { jobId: `${message.booking.reference}.${++this.deliveries}` },
      })),
    );
  }

  async unsettled(): Promise<number> {
    return this.queue.getJobCountByTypes('wait', 'active', 'delayed', 'prioritized', 'waiting-children');
  }

  /** The latest. */
  async acknowledged(): Promise<string[]> {
    const ids = await this.queue.getRanges(['completed'], 0, MOST - 1);
    return ids.map((id) => id.slice(0, id.lastIndexOf('.')));
  }

  async deadLetters(): Promise<string[]> {
    const failed = await this.queue.getFailed(0, MOST - 1);
    return failed.map(({ data }) => data.data.reference).sort();
  }

  async attemptsUsed(reference: string): Promise<number> {
    const jobs = await this.queue.getJobs(['active', 'delayed', 'wait'], 0, MOST - 1);
    const ours = jobs.filter(({ data }) => data.data.reference === reference);
    return ours.reduce((used, { attemptsMade }) => used + attemptsMade, 0);
  }

  async remove(): Promise<void> {
    await this.queue.close();
    const redis = new Redis(this.place.url);
    try {
      for await (const keys of redis.scanStream({ match: `${this.place.prefix}:*`, count: MOST })) {
        if (keys.length > 0) await redis.del(...(keys as string[]));
      }
    } finally {
      redis.disconnect();
    }
  }
}
