import { Controller } from '@nestjs/common';
import { EventPattern, type MicroserviceOptions, Payload, Transport } from '@nestjs/microservices';
import { Idempotent, TransactionManager } from 'nestjs-idempotency';
import { EntityManager } from 'typeorm';

import { type Booking, Bookings } from './bookings.js';

export interface BookingsQueue {
  readonly queue: string;
  /** The queue for messages that somebody has to look at. */
  readonly deadLetters: string;
}

@Controller()
export class RabbitBookings {
  constructor(private readonly bookings: Bookings) {}

  @EventPattern<string>('booking')
  @Idempotent({ endpoint: 'bookings' })
  async book(@Payload() booking: Booking, @TransactionManager() manager: EntityManager): Promise<void> {
    await this.bookings.book(booking, manager);
  }
}

/** The transport for it: RabbitMQ waits for each message to be acknowledged, and keeps those that are refused. */
export function bookingsTransport(url: string, { queue, deadLetters }: BookingsQueue): MicroserviceOptions {
  return {
    transport: Transport.RMQ,
    options: {
      urls: [url],
      queue,
      queueOptions: { durable: true, deadLetterExchange: '', deadLetterRoutingKey: deadLetters },
      noAck: false,
      prefetchCount: 16,
    },
  };
}
