import { Body, Controller, Post, Res, UseGuards } from '@nestjs/common';
import { Idempotent, TransactionManager } from 'nestjs-idempotency';
import { EntityManager } from 'typeorm';

import { ApiKeyGuard } from './caller.js';
import { CreatePayment } from './create-payment.dto.js';
import { Cues } from './cues.js';
import { PaymentsService } from './payments.service.js';

/** What an Express response and a Fastify reply have in common. */
interface WithHeaders {
  header(name: string, value: string): unknown;
}

@Controller('payments')
@UseGuards(ApiKeyGuard)
export class PaymentsController {
  constructor(
    private readonly payments: PaymentsService,
    private readonly cues: Cues,
  ) {}

  @Post()
  @Idempotent()
  async create(
    @Body() request: CreatePayment,
    @TransactionManager() manager: EntityManager,
    @Res({ passthrough: true }) response: WithHeaders,
  ): Promise<object> {
    const payment = await this.payments.create(manager, request);
    response.header('Location', `/payments/${payment.id}`);
    return this.cues.present(payment);
  }
}
