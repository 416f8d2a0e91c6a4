import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Account } from '../accounts/account.entity.js';
import { clearingAccountOf, salesAccountOf } from '../accounts/house-accounts.js';
import { lockAccounts } from '../accounts/lock-accounts.js';
import { transfer } from '../ledger/transfer.js';
import { Outbox } from '../outbox/outbox.js';
import type { ProviderCharge, ProviderRefund } from '../provider/provider-objects.js';
import { ReceiptQueue } from '../receipts/receipt-queue.js';
import { Charge } from './charge.entity.js';
import { paymentCharged } from './charge-events.js';
import { referredBy } from './charge-id.js';
import { chargeNotFound, currencyNotOffered } from './charge-problems.js';
import { ChargeRefund } from './charge-refund.entity.js';

/**
 * Books what the provider says has happened, whoever heard it first: the operation that asked for it, or a webhook.
 *
 * Each thing is booked once: a charge is captured once, and a refund has one id. Every method works through the manager
 * it is given, inside the caller's transaction.
 */
@Injectable()
export class ChargesService {
  constructor(
    private readonly receipts: ReceiptQueue,
    private readonly outbox: Outbox,
  ) {}

  /** Adds a charge that was made under a reference of ours, and books what was taken. */
  async add(manager: EntityManager, merchantId: string, made: ProviderCharge): Promise<Charge> {
    const { id = made.id } = referredBy(made.reference) ?? {};
    const { id: providerId, amount, currency } = made;
    const charge = manager.create(Charge, {
      merchantId,
      id,
      providerId,
      status: 'authorized',
      amount,
      currency,
      captured: 0,
      refunded: 0,
    });
    await manager.insert(Charge, charge);
    await this.bookCapture(manager, charge, made);
    return charge;
  }

  /** Books what was taken since, if anything was; null where the charge is not ours, or not there yet. */
  async settle(manager: EntityManager, merchantId: string, told: ProviderCharge): Promise<Charge | null> {
    const charge = await lock(manager, merchantId, told.id);
    if (charge) await this.bookCapture(manager, charge, told);
    return charge;
  }

  /** Books a refund, unless that was done; null where the charge is not ours, or not there yet. */
  async settleRefund(manager: EntityManager, merchantId: string, made: ProviderRefund): Promise<ChargeRefund | null> {
    const charge = await lock(manager, merchantId, made.charge);
    if (!charge) return null;
    const { id: providerId, amount } = made;
    const booked = await manager.findOneBy(ChargeRefund, { merchantId, providerId });
    if (booked) return booked;

    const { id = providerId } = referredBy(made.reference) ?? {};
    const { id: chargeId, currency } = charge;
    const [from, to] = [salesAccountOf(currency), clearingAccountOf(currency)];
    await lockAccounts(manager, merchantId, [from, to], HOUSE);
    const refund = manager.create(ChargeRefund, { merchantId, id, chargeId, providerId, amount });
    await manager.insert(ChargeRefund, refund);
    await manager.increment(Charge, { merchantId, id: chargeId }, 'refunded', amount);
    await transfer(manager, { merchantId, from, to, amount, currency, chargeId, chargeRefundId: id });
    return refund;
  }

  async find(manager: EntityManager, merchantId: string, id: string): Promise<Charge> {
    const charge = await manager.findOneBy(Charge, { merchantId, id });
    if (!charge) throw chargeNotFound(id);
    return charge;
  }

  async assertOffered(manager: EntityManager, merchantId: string, currency: string): Promise<void> {
    const isOffered = await manager.existsBy(Account, { merchantId, id: clearingAccountOf(currency) });
    if (!isOffered) throw currencyNotOffered(currency);
  }

  /** The money that the provider has taken is the merchant's from now on: there is a receipt to write, and others are told. */
  private async bookCapture(
    manager: EntityManager,
    charge: Charge,
    { status, captured }: ProviderCharge,
  ): Promise<void> {
    if (charge.status === 'captured' || status !== 'captured') return;
    const { merchantId, id, currency } = charge;
    const [from, to] = [clearingAccountOf(currency), salesAccountOf(currency)];
    await lockAccounts(manager, merchantId, [from, to], HOUSE);
    Object.assign(charge, { status, captured } satisfies Partial<Charge>);
    await manager.update(Charge, { merchantId, id }, { status, captured });
    await transfer(manager, { merchantId, from, to, amount: captured, currency, chargeId: id });
    await this.receipts.enqueue(manager, charge);
    await this.outbox.put(manager, paymentCharged(charge));
  }
}

const HOUSE = ['clearing', 'sales'] as const;

/** Whoever else hears of the same charge waits until the transaction ends. */
const lock = (manager: EntityManager, merchantId: string, providerId: string): Promise<Charge | null> =>
  manager.findOne(Charge, { where: { merchantId, providerId }, lock: { mode: 'pessimistic_write' } });
