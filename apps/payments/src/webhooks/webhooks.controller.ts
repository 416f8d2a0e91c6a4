import { Body, Controller, HttpCode, Post, UseGuards } from '@nestjs/common';
import { Idempotent, TransactionManager } from 'nestjs-idempotency';
import { EntityManager } from 'typeorm';
import { referredBy } from '../charges/charge-id.js';
import { ChargesService } from '../charges/charges.service.js';
import { eventIn } from './provider-event.js';
import { chargeNotThereYet } from './webhook-problems.js';
import { deliveryOf } from './webhook-sender.js';
import { WebhookSignatureGuard } from './webhook-signature.guard.js';

@Controller('webhooks')
@UseGuards(WebhookSignatureGuard)
export class WebhooksController {
  constructor(private readonly charges: ChargesService) {}

  /**
   * Books what the provider tells of a charge that is there. One that is not there is being made, by an operation whose
   * commit will book the same: the event waits for it with the provider. What is not about us is acknowledged.
   */
  @Post('psp')
  @HttpCode(204)
  @Idempotent({ endpoint: 'provider-events', key: deliveryOf, claim: 'transaction', retention: '7d' })
  async receive(@Body() body: unknown, @TransactionManager() manager: EntityManager): Promise<void> {
    const event = eventIn(body);
    const referred = event && referredBy(event.charge.reference);
    if (!referred) return;
    const { merchantId } = referred;
    const charge = await this.charges.settle(manager, merchantId, event.charge);
    if (!charge) throw chargeNotThereYet();
    if (event.refund) await this.charges.settleRefund(manager, merchantId, event.refund);
  }
}
