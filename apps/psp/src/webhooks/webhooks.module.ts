import { Module } from '@nestjs/common';
import { FaultsModule } from '../faults/faults.module.js';
import { Outbox } from './outbox.js';
import { WebhookDispatcher } from './webhook-dispatcher.js';
import { WebhookSender } from './webhook-sender.js';

@Module({
  imports: [FaultsModule],
  providers: [Outbox, WebhookDispatcher, WebhookSender],
  exports: [Outbox, WebhookDispatcher],
})
export class WebhooksModule {}
