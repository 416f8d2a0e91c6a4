import { IsBoolean, IsIn, IsISO4217CurrencyCode, IsLowercase, IsOptional } from 'class-validator';
import { type Card, CARDS } from './card.js';
import { IsMinorUnits } from './is-minor-units.js';
import { IsReference } from './is-reference.js';

export class CreateCharge {
  @IsMinorUnits()
  amount!: number;

  @IsLowercase()
  @IsISO4217CurrencyCode()
  currency!: string;

  @IsIn(CARDS)
  card!: Card;

  @IsOptional()
  @IsReference()
  reference?: string;

  /** Whether the money is taken at once, and not only authorized; it is unless this says no. */
  @IsOptional()
  @IsBoolean()
  capture?: boolean;
}
