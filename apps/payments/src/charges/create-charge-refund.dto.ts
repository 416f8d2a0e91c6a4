import { IsMinorUnits } from '../payments/is-minor-units.js';

export class CreateChargeRefund {
  @IsMinorUnits()
  amount!: number;
}
