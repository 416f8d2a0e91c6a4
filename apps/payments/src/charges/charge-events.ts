import type { CloudEvent } from '../brokers/cloud-event.js';
import type { Charge } from './charge.entity.js';
import { referenceOf } from './charge-id.js';

const PAYMENT_CHARGED = 'payment.charged';

/** The money of a charge was taken. That happens once, so the charge is what its id says. */
export const paymentCharged = (charge: Charge): CloudEvent => ({
  specversion: '1.0',
  type: PAYMENT_CHARGED,
  source: '/payments',
  id: `${PAYMENT_CHARGED}/${referenceOf(charge)}`,
  data: { charge: referenceOf(charge), amount: charge.captured, currency: charge.currency },
});
