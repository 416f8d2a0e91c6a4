import { Matches } from 'class-validator';
import { PAYMENT_ID } from './payment-id.js';

export class PaymentParams {
  @Matches(PAYMENT_ID)
  id!: string;
}
