import { IsInt, IsPositive, IsString } from 'class-validator';

export class CreatePayment {
  @IsInt()
  @IsPositive()
  amount!: number;

  @IsString()
  currency!: string;

  @IsString()
  source!: string;

  @IsString()
  destination!: string;
}
