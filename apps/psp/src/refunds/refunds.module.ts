import { Module } from '@nestjs/common';
import { CallsModule } from '../calls/calls.module.js';
import { ChargesModule } from '../charges/charges.module.js';
import { RefundsController } from './refunds.controller.js';
import { RefundsService } from './refunds.service.js';

@Module({ imports: [CallsModule, ChargesModule], controllers: [RefundsController], providers: [RefundsService] })
export class RefundsModule {}
