import { Module } from '@nestjs/common';
import { ChargesModule } from '../charges/charges.module.js';
import { WebhooksController } from './webhooks.controller.js';

@Module({ imports: [ChargesModule], controllers: [WebhooksController] })
export class WebhooksModule {}
