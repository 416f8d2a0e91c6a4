import { IsIn, IsInt, IsOptional, Min } from 'class-validator';
import { type Operation, OPERATIONS } from '../calls/operation.js';
import { IsReference } from '../charges/is-reference.js';
import { type Place, PLACES } from '../faults/fault.js';

export class HoldCalls {
  /** Any but a lookup, unless it says which. */
  @IsOptional()
  @IsIn([...OPERATIONS, 'any'])
  operation?: Operation | 'any';

  /** Of the call itself, or of the charge it names. */
  @IsOptional()
  @IsReference()
  reference?: string;

  /** How many calls it strikes: one, unless it says more. */
  @IsOptional()
  @IsInt()
  @Min(1)
  times?: number;

  /** Before it does anything, unless it says otherwise. */
  @IsOptional()
  @IsIn(PLACES)
  at?: Place;
}
