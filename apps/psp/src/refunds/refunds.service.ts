import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Done } from '../calls/effect.js';
import { Charge } from '../charges/charge.entity.js';
import { viewOfCharge } from '../charges/charge-view.js';
import { ChargesService } from '../charges/charges.service.js';
import type { CreateRefund } from './create-refund.dto.js';
import { Refund } from './refund.entity.js';
import { notCaptured, refundExceedsCaptured } from './refund-problems.js';
import { viewOfRefund } from './refund-view.js';

/** Every method does its work through the manager it is given, inside the caller's transaction. */
@Injectable()
export class RefundsService {
  constructor(private readonly charges: ChargesService) {}

  async create(manager: EntityManager, merchantId: string, chargeId: string, asked: CreateRefund): Promise<Done> {
    const charge = await this.charges.lock(manager, merchantId, chargeId);
    if (charge.status !== 'captured') throw notCaptured(charge);
    const left = charge.captured - charge.refunded;
    const { amount = left, reference = null } = asked;
    if (amount > left || left === 0) throw refundExceedsCaptured(charge);

    const refund = manager.create(Refund, {
      merchantId,
      id: `re_${randomUUID()}`,
      chargeId,
      amount,
      currency: charge.currency,
      reference,
    });
    await manager.insert(Refund, refund);
    charge.refunded += amount;
    await manager.update(Charge, { merchantId, id: chargeId }, { refunded: charge.refunded });
    const view = viewOfRefund(refund);
    const data = { charge: viewOfCharge(charge), refund: view };
    return { status: 201, body: view, event: { type: 'charge.refunded', data } };
  }

  /** Every refund of this reference, the oldest first; without keys there can be several. */
  async search(manager: EntityManager, merchantId: string, reference: string): Promise<Done> {
    const refunds = await manager.find(Refund, {
      where: { merchantId, reference },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
    return { status: 200, body: { refunds: refunds.map(viewOfRefund) } };
  }
}
