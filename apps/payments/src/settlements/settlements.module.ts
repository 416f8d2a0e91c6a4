import { Module } from '@nestjs/common';
import { BrokersModule } from '../brokers/brokers.module.js';
import { NatsSettlements } from './nats-settlements.js';
import { SettlementsController } from './settlements.controller.js';
import { SettlementsService } from './settlements.service.js';

@Module({
  imports: [BrokersModule],
  controllers: [SettlementsController],
  providers: [SettlementsService, NatsSettlements],
  exports: [SettlementsService],
})
export class SettlementsModule {}
