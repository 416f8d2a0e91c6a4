import { IsISO4217CurrencyCode, IsLowercase, Matches } from 'class-validator';
import { IsMinorUnits } from './is-minor-units.js';

const ACCOUNT_ID = /^[a-z0-9_]{1,64}$/;

export class CreatePayment {
  @IsMinorUnits()
  amount!: number;

  @IsLowercase()
  @IsISO4217CurrencyCode()
  currency!: string;

  @Matches(ACCOUNT_ID)
  source!: string;

  @Matches(ACCOUNT_ID)
  destination!: string;
}
