import { Module } from '@nestjs/common';
import type { MicroserviceOptions } from '@nestjs/microservices';

import type { RabbitPlace } from '../broker.js';
import { Bookings } from '../consumers/bookings.js';
import { bookingsTransport, RabbitBookings } from '../consumers/rabbitmq.js';

@Module({ controllers: [RabbitBookings], providers: [Bookings] })
export class RabbitModule {}

export function transportAt({ url, ...queue }: RabbitPlace): MicroserviceOptions {
  return bookingsTransport(url, queue);
}
