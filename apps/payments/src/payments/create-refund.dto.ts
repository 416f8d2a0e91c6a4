import { IsMinorUnits } from './is-minor-units.js';

export class CreateRefund {
  @IsMinorUnits()
  amount!: number;
}
