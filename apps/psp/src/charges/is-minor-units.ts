import { applyDecorators } from '@nestjs/common';
import { IsInt, IsPositive, Max } from 'class-validator';

/** An amount of money: a positive integer that a JSON number holds exactly. */
export const IsMinorUnits = (): PropertyDecorator =>
  applyDecorators(IsInt(), IsPositive(), Max(Number.MAX_SAFE_INTEGER));
