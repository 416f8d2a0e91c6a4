import { type INestApplicationContext, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { idempotencyEntities, idempotencyMigrations, IdempotencyModule, type Settlement } from 'nestjs-idempotency';
import type { DataSourceOptions } from 'typeorm';

import type { Place } from '../broker.js';
import { moduleAt, start } from './transports.js';

export interface ConsumerOptions {
  readonly databaseUrl: string;
  /** Where its messages come from. */
  readonly place: Place;
  readonly leaseMs: number;
  readonly maxTries: number;
}

/** What is to become of one delivery. */
export interface Settled {
  readonly kind: Settlement['kind'];
  /** Of an acknowledgement, whether its work was done now; of a parked message, the reason. */
  readonly how?: string;
}

/**
 * `bookings` keeps nothing from being booked twice, so that a second row is there to be seen. Booking takes a while, in
 * which its consumer may die and a duplicate may come.
 */
export const TABLES = `
  CREATE TABLE bookings (reference text NOT NULL, amount integer NOT NULL CHECK (amount > 0));
  CREATE FUNCTION take_a_while() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_sleep(0.02); RETURN NEW; END $$;
  CREATE TRIGGER take_a_while BEFORE INSERT ON bookings FOR EACH ROW EXECUTE FUNCTION take_a_while()`;

export function dataSourceOptions(url: string): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    poolSize: 12,
    applicationName: 'bookings',
    entities: idempotencyEntities,
    migrations: idempotencyMigrations,
  };
}

/** Starts the application that books what messages ask for. */
export async function startConsumer(
  { databaseUrl, place, leaseMs, maxTries }: ConsumerOptions,
  tell: (settled: Settled) => void,
): Promise<INestApplicationContext> {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...dataSourceOptions(databaseUrl), retryAttempts: 0 }),
      IdempotencyModule.forRoot({
        singleTenant: true,
        leaseMs,
        messages: { maxTries, onSettled: (_, settlement) => tell(settledBy(settlement)) },
      }),
      await moduleAt(place),
    ],
  })
  class BookingsModule {}

  return start(BookingsModule, place);
}

function settledBy(settlement: Settlement): Settled {
  switch (settlement.kind) {
    case 'acknowledge':
      return { kind: 'acknowledge', how: settlement.outcome.kind };
    case 'retry':
      return { kind: 'retry' };
    case 'park':
      return { kind: 'park', how: settlement.reason };
  }
}
