import { IsOptional } from 'class-validator';
import { IsMinorUnits } from './is-minor-units.js';

export class CaptureCharge {
  /** All that is authorized, unless it says less. */
  @IsOptional()
  @IsMinorUnits()
  amount?: number;
}
