import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** What a message asks for. */
export interface Booking {
  readonly reference: string;
  readonly amount: number;
}

@Injectable()
export class Bookings {
  /** Books it, in the transaction of the manager. */
  async book({ reference, amount }: Booking, manager: EntityManager): Promise<{ booked: string }> {
    await manager.query('INSERT INTO bookings (reference, amount) VALUES ($1, $2)', [reference, amount]);
    return { booked: reference };
  }
}
