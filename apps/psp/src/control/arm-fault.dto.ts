import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { type Fault, FAULT_KINDS } from '../faults/fault.js';
import { HoldCalls } from './hold-calls.dto.js';

const TEN_MINUTES_MS = 600_000;

/** `at` is for `hold`. */
export class ArmFault extends HoldCalls {
  @IsIn(FAULT_KINDS)
  kind!: Fault['kind'];

  /** For `slow`, `rate_limited` and `late_webhook`. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(TEN_MINUTES_MS)
  delayMs?: number;

  /** For `lost_webhook`: how many attempts to deliver it get lost. */
  @IsOptional()
  @IsInt()
  @Min(1)
  attempts?: number;
}
