import { IsOptional } from 'class-validator';
import { IsMinorUnits } from '../charges/is-minor-units.js';
import { IsReference } from '../charges/is-reference.js';

export class CreateRefund {
  /** All that is left, unless it says less. */
  @IsOptional()
  @IsMinorUnits()
  amount?: number;

  @IsOptional()
  @IsReference()
  reference?: string;
}
