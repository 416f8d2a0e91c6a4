import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { type DynamicModule, Module } from '@nestjs/common';

import type { RabbitPlace } from '../broker.js';
import { Bookings } from '../consumers/bookings.js';
import { GolevelupBookings } from '../consumers/golevelup.js';

@Module({})
export class GolevelupModule {
  static at({ url, queue }: RabbitPlace): DynamicModule {
    return {
      module: GolevelupModule,
      imports: [
        RabbitMQModule.forRoot({
          uri: url,
          prefetchCount: 16,
          handlers: { bookings: { queue, createQueueIfNotExists: false } },
        }),
      ],
      providers: [Bookings, GolevelupBookings],
    };
  }
}
