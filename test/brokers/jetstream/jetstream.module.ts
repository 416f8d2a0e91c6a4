import { type DynamicModule, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { connect, type NatsConnection } from '@nats-io/transport-node';

import type { JetStreamPlace } from '../broker.js';
import { Bookings } from '../consumers/bookings.js';
import { BOOKINGS_STREAM, JetStreamBookings, NATS } from '../consumers/jetstream.js';

@Module({})
export class JetStreamModule implements OnApplicationShutdown {
  constructor(@Inject(NATS) private readonly nats: NatsConnection) {}

  static at({ url, ...stream }: JetStreamPlace): DynamicModule {
    return {
      module: JetStreamModule,
      providers: [
        { provide: NATS, useFactory: () => connect({ servers: url }) },
        { provide: BOOKINGS_STREAM, useValue: stream },
        Bookings,
        JetStreamBookings,
      ],
    };
  }

  /** What was acknowledged last is on its way before the connection ends. */
  async onApplicationShutdown(): Promise<void> {
    await this.nats.drain();
  }
}
