import { Body, Controller, Delete, Get, HttpCode, Post, UseGuards } from '@nestjs/common';
import { CallLog } from '../calls/call-log.js';
import { Holds } from '../faults/holds.js';
import { LoopbackGuard } from './loopback.guard.js';
import { Release } from './release.dto.js';

@Controller('control')
@UseGuards(LoopbackGuard)
export class CallsController {
  constructor(
    private readonly log: CallLog,
    private readonly holds: Holds,
  ) {}

  @Get('calls')
  list(): object {
    return { calls: this.log.list() };
  }

  @Delete('calls')
  @HttpCode(204)
  forget(): void {
    this.log.clear();
  }

  @Get('held')
  held(): object {
    return { calls: this.holds.list() };
  }

  /** Answers when what it released is over. */
  @Post('release')
  @HttpCode(200)
  async release(@Body() { call }: Release = {}): Promise<object> {
    return { calls: await this.holds.release(call) };
  }
}
