import type { EntityManager } from 'typeorm';

/** What a call does, inside the transaction it is given. It throws a `ProblemException`, before it writes, to refuse. */
export type Effect = (manager: EntityManager) => Promise<Done>;

export interface Done {
  readonly status: 200 | 201;
  readonly body: object;
  /** What the merchant is told of it besides the answer. */
  readonly event?: ChargeEvent;
}

export interface ChargeEvent {
  readonly type: 'charge.authorized' | 'charge.captured' | 'charge.refunded';
  readonly data: object;
}
