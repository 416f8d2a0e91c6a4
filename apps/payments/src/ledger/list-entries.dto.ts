import { IsOptional, Matches, ValidateIf } from 'class-validator';
import { CHARGE_ID } from '../charges/charge-id.js';
import { PAYMENT_ID } from '../payments/payment-id.js';

/** Of a payment, or of a charge. */
export class ListEntries {
  @ValidateIf(({ charge }: ListEntries) => charge === undefined)
  @Matches(PAYMENT_ID)
  payment?: string;

  @IsOptional()
  @Matches(CHARGE_ID)
  charge?: string;
}
