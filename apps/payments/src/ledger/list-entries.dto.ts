import { Matches } from 'class-validator';
import { PAYMENT_ID } from '../payments/payment-id.js';

export class ListEntries {
  @Matches(PAYMENT_ID)
  payment!: string;
}
