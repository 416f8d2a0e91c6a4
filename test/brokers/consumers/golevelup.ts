import { RabbitPayload, RabbitSubscribe } from '@golevelup/nestjs-rabbitmq';
import { Injectable } from '@nestjs/common';
import { Idempotent, TransactionManager } from 'nestjs-idempotency';
import { EntityManager } from 'typeorm';

import { type Booking, Bookings } from './bookings.js';

@Injectable()
export class GolevelupBookings {
  constructor(private readonly bookings: Bookings) {}

  /** Its queue has a dead letter exchange; see the module's `handlers`. */
  @RabbitSubscribe({ name: 'bookings' })
  @Idempotent({ endpoint: 'bookings' })
  async book(@RabbitPayload() booking: Booking, @TransactionManager() manager: EntityManager): Promise<void> {
    await this.bookings.book(booking, manager);
  }
}
