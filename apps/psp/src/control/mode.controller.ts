import { Body, Controller, Get, Patch, UseGuards } from '@nestjs/common';
import type { Keys, Search } from '../settings/app-options.js';
import { Settings } from '../settings/settings.js';
import { LoopbackGuard } from './loopback.guard.js';
import { SetMode } from './set-mode.dto.js';

/** How much the provider helps a caller who lost an answer. */
export interface Mode {
  readonly keys: Keys;
  readonly search: Search;
}

@Controller('control/mode')
@UseGuards(LoopbackGuard)
export class ModeController {
  constructor(private readonly settings: Settings) {}

  @Get()
  read(): Mode {
    const { keys, search } = this.settings;
    return { keys, search };
  }

  @Patch()
  change(@Body() { keys = this.settings.keys, search = this.settings.search }: SetMode): Mode {
    Object.assign(this.settings, { keys, search });
    return this.read();
  }
}
