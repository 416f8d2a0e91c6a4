import { type DynamicModule, Module } from '@nestjs/common';

import type { BullPlace } from '../broker.js';
import { Bookings } from '../consumers/bookings.js';
import { BOOKINGS_QUEUE, BullBookings, type BookingsQueue } from '../consumers/bullmq.js';

@Module({})
export class BullModule {
  static at({ url, ...queue }: BullPlace): DynamicModule {
    const bookings: BookingsQueue = { ...queue, connection: { url } };
    return {
      module: BullModule,
      providers: [{ provide: BOOKINGS_QUEUE, useValue: bookings }, Bookings, BullBookings],
    };
  }
}
