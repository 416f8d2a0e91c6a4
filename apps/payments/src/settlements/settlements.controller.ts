import { Controller } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { Idempotent, TransactionManager } from 'nestjs-idempotency';
import { EntityManager } from 'typeorm';
import { SETTLEMENTS } from './settlements-endpoint.js';
import { SettlementsService } from './settlements.service.js';

/** Settlements that come from RabbitMQ. They are acknowledged when their effect is committed, and not here. */
@Controller()
export class SettlementsController {
  constructor(private readonly settlements: SettlementsService) {}

  @EventPattern<string>(SETTLEMENTS)
  @Idempotent({ endpoint: SETTLEMENTS })
  async post(@Payload() event: unknown, @TransactionManager() manager: EntityManager): Promise<void> {
    await this.settlements.post(manager, event);
  }
}
