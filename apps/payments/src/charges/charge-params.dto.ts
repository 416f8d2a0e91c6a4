import { Matches } from 'class-validator';
import { CHARGE_ID } from './charge-id.js';

export class ChargeParams {
  @Matches(CHARGE_ID)
  id!: string;
}
