import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Done } from '../calls/effect.js';
import type { CaptureCharge } from './capture-charge.dto.js';
import { refusalOf } from './card.js';
import { Charge } from './charge.entity.js';
import { newChargeId } from './charge-id.js';
import { alreadyCaptured, captureExceedsAuthorized, chargeNotFound } from './charge-problems.js';
import { viewOfCharge } from './charge-view.js';
import type { CreateCharge } from './create-charge.dto.js';

/** Every method does its work through the manager it is given, inside the caller's transaction. */
@Injectable()
export class ChargesService {
  async create(manager: EntityManager, merchantId: string, asked: CreateCharge): Promise<Done> {
    const { amount, currency, card, reference = null, capture = true } = asked;
    const refusal = refusalOf(card);
    if (refusal) throw refusal;

    const charge = manager.create(Charge, {
      merchantId,
      id: newChargeId(),
      status: capture ? 'captured' : 'authorized',
      amount,
      currency,
      card,
      reference,
      captured: capture ? amount : 0,
      refunded: 0,
    });
    await manager.insert(Charge, charge);
    const view = viewOfCharge(charge);
    return { status: 201, body: view, event: { type: `charge.${charge.status}`, data: { charge: view } } };
  }

  /** Takes the money, once; what it leaves of the authorized amount is never taken. */
  async capture(manager: EntityManager, merchantId: string, id: string, asked: CaptureCharge): Promise<Done> {
    const charge = await this.lock(manager, merchantId, id);
    const { amount = charge.amount } = asked;
    if (charge.status === 'captured') throw alreadyCaptured(charge);
    if (amount > charge.amount) throw captureExceedsAuthorized(charge);

    Object.assign(charge, { status: 'captured', captured: amount } satisfies Partial<Charge>);
    await manager.update(Charge, { merchantId, id }, { status: 'captured', captured: amount });
    const view = viewOfCharge(charge);
    return { status: 201, body: view, event: { type: 'charge.captured', data: { charge: view } } };
  }

  async find(manager: EntityManager, merchantId: string, id: string): Promise<Done> {
    const charge = await manager.findOneBy(Charge, { merchantId, id });
    if (!charge) throw chargeNotFound(id);
    return { status: 200, body: viewOfCharge(charge) };
  }

  /** Every charge of this reference, the oldest first; without keys there can be several. */
  async search(manager: EntityManager, merchantId: string, reference: string): Promise<Done> {
    const charges = await manager.find(Charge, {
      where: { merchantId, reference },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
    return { status: 200, body: { charges: charges.map(viewOfCharge) } };
  }

  /** Whoever else wants to change the charge waits until the transaction ends. */
  async lock(manager: EntityManager, merchantId: string, id: string): Promise<Charge> {
    const charge = await manager.findOne(Charge, { where: { merchantId, id }, lock: { mode: 'pessimistic_write' } });
    if (!charge) throw chargeNotFound(id);
    return charge;
  }
}
