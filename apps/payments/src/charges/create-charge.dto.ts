import { IsBoolean, IsISO4217CurrencyCode, IsLowercase, IsOptional, Matches } from 'class-validator';
import { IsMinorUnits } from '../payments/is-minor-units.js';

export class CreateCharge {
  @IsMinorUnits()
  amount!: number;

  @IsLowercase()
  @IsISO4217CurrencyCode()
  currency!: string;

  /** A token of the provider's; the number of a card never comes here. */
  @Matches(/^tok_[a-z]{1,32}$/)
  card!: string;

  /** Whether the money is taken at once, and not only held on the card; it is unless this says no. */
  @IsOptional()
  @IsBoolean()
  capture?: boolean;
}
