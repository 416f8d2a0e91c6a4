import { Injectable } from '@nestjs/common';
import type { IdempotentOperation, StepOptions } from 'nestjs-idempotency';
import { DataSource } from 'typeorm';

import { findOrder, type Order } from './orders.js';
import { capture, charge, type Charge, chargeOf } from './provider.js';

/** An order that was paid. */
export interface Paid {
  readonly order: string;
  readonly charge: string;
  readonly amount: number;
}

/** Pays orders at their provider, and books that they are paid. */
@Injectable()
export class Charging {
  constructor(private readonly dataSource: DataSource) {}

  /** In one call. */
  async charge(operation: IdempotentOperation): Promise<Paid> {
    const order = await findOrder(this.dataSource, operation.key);
    const made = await operation.step('charge', (call) => charge(order, true, call), termsOf(order));
    return this.book(operation, order, made);
  }

  /** In two: the money is held first, and then taken. */
  async authorizeAndCapture(operation: IdempotentOperation): Promise<Paid> {
    const order = await findOrder(this.dataSource, operation.key);
    const held = await operation.step('authorize', (call) => charge(order, false, call), termsOf(order));
    const taken = await operation.step('capture', (call) => capture(order, held.id, call), termsOf(order, 'captured'));
    return this.book(operation, order, taken);
  }

  private book(operation: IdempotentOperation, { id }: Order, made: Charge): Promise<Paid> {
    return operation.commit(async (manager) => {
      const paid = { order: id, charge: made.id, amount: made.amount };
      await manager.query('INSERT INTO ledger ("order", charge, amount) VALUES ($1, $2, $3)', Object.values(paid));
      return paid;
    });
  }
}

function termsOf(order: Order, status?: Charge['status']): StepOptions<Charge> {
  const { deadlineMs, tries, whenUnknown } = order;
  if (whenUnknown !== 'look_up') return { deadlineMs, tries, whenUnknown };
  return {
    deadlineMs,
    tries,
    whenUnknown: async (call) => {
      const found = await chargeOf(order, call);
      return status === undefined || found?.status === status ? found : undefined;
    },
  };
}
