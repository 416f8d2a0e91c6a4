import type { Refund } from './refund.entity.js';

/** A refund as the merchant sees it, in answers and events. */
export interface RefundView {
  readonly id: string;
  readonly charge: string;
  readonly amount: number;
  readonly currency: string;
  readonly reference: string | null;
  readonly createdAt: Date;
}

export const viewOfRefund = (refund: Refund): RefundView => {
  const { id, chargeId: charge, amount, currency, reference, createdAt } = refund;
  return { id, charge, amount, currency, reference, createdAt };
};
