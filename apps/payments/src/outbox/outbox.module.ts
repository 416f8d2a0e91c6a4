import { Module } from '@nestjs/common';
import { BrokersModule } from '../brokers/brokers.module.js';
import { EventPublisher } from './event-publisher.js';
import { Outbox } from './outbox.js';

@Module({ imports: [BrokersModule], providers: [Outbox, EventPublisher], exports: [Outbox, EventPublisher] })
export class OutboxModule {}
