import type { Charge, ChargeStatus } from './charge.entity.js';

/** A charge as the merchant sees it, in answers and events. */
export interface ChargeView {
  readonly id: string;
  readonly status: ChargeStatus;
  readonly amount: number;
  readonly currency: string;
  readonly reference: string | null;
  readonly captured: number;
  readonly refunded: number;
  readonly createdAt: Date;
}

export const viewOfCharge = (charge: Charge): ChargeView => {
  const { id, status, amount, currency, reference, captured, refunded, createdAt } = charge;
  return { id, status, amount, currency, reference, captured, refunded, createdAt };
};
