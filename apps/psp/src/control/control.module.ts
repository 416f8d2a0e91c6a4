import { Module } from '@nestjs/common';
import { CallsModule } from '../calls/calls.module.js';
import { FaultsModule } from '../faults/faults.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { CallsController } from './calls.controller.js';
import { FaultsController } from './faults.controller.js';
import { ModeController } from './mode.controller.js';
import { WebhooksController } from './webhooks.controller.js';

@Module({
  imports: [CallsModule, FaultsModule, WebhooksModule],
  controllers: [CallsController, FaultsController, ModeController, WebhooksController],
})
export class ControlModule {}
