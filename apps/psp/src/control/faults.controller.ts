import { Body, Controller, Delete, Get, HttpCode, Post, UseGuards } from '@nestjs/common';
import { type ArmedFault, FaultQueue } from '../faults/fault-queue.js';
import { ArmFault } from './arm-fault.dto.js';
import { faultOf } from './fault-of.js';
import { HoldCalls } from './hold-calls.dto.js';
import { LoopbackGuard } from './loopback.guard.js';

@Controller('control')
@UseGuards(LoopbackGuard)
export class FaultsController {
  constructor(private readonly faults: FaultQueue) {}

  @Post('faults')
  arm(@Body() asked: ArmFault): object {
    const { operation = 'any', reference, times = 1 } = asked;
    return viewOf(this.faults.arm({ operation, reference }, faultOf(asked), times));
  }

  /** Short for a fault of the kind `hold`. */
  @Post('hold')
  hold(@Body() asked: HoldCalls = {}): object {
    return this.arm({ ...asked, kind: 'hold' });
  }

  @Get('faults')
  list(): object {
    return { faults: this.faults.list().map(viewOf) };
  }

  @Delete('faults')
  @HttpCode(204)
  disarm(): void {
    this.faults.clear();
  }
}

const viewOf = ({ id, aim, fault, left }: ArmedFault): object => ({ id, ...aim, ...fault, left });
