import { type DynamicModule, Module, type OnApplicationShutdown } from '@nestjs/common';
import PgBoss from 'pg-boss';

import type { BossPlace } from '../broker.js';
import { Bookings } from '../consumers/bookings.js';
import { BOOKINGS_JOBS, BossBookings } from '../consumers/pg-boss.js';

@Module({})
export class BossModule implements OnApplicationShutdown {
  constructor(private readonly boss: PgBoss) {}

  static at({ url, ...jobs }: BossPlace): DynamicModule {
    return {
      module: BossModule,
      providers: [
        { provide: PgBoss, useFactory: () => startBoss(url) },
        { provide: BOOKINGS_JOBS, useValue: jobs },
        Bookings,
        BossBookings,
      ],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.boss.stop();
  }
}

async function startBoss(url: string): Promise<PgBoss> {
  // Every second it is looked for jobs whose worker has died.
  const boss = new PgBoss({ connectionString: url, max: 4, schedule: false, maintenanceIntervalSeconds: 1 });
  boss.on('error', (error) => console.error(error));
  return boss.start();
}
