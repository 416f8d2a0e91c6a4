import { Module } from '@nestjs/common';
import { FaultsModule } from '../faults/faults.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { CallLog } from './call-log.js';
import { Calls } from './calls.js';
import { Strikes } from './strikes.js';

@Module({
  imports: [FaultsModule, WebhooksModule],
  providers: [Calls, CallLog, Strikes],
  exports: [Calls, CallLog],
})
export class CallsModule {}
