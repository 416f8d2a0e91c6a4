import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { currencyMismatch, insufficientFunds } from '../accounts/account-problems.js';
import { lockAccounts } from '../accounts/lock-accounts.js';
import { transfer } from '../ledger/transfer.js';
import type { CreatePayment } from './create-payment.dto.js';
import type { CreateRefund } from './create-refund.dto.js';
import { Payment } from './payment.entity.js';
import { newPaymentId, newRefundId } from './payment-id.js';
import { paymentNotFound, refundExceedsPayment, sameAccount } from './payment-problems.js';
import { Refund } from './refund.entity.js';

/** Every method does its work through the manager it is given, inside the caller's transaction. */
@Injectable()
export class PaymentsService {
  async create(manager: EntityManager, merchantId: string, request: CreatePayment): Promise<Payment> {
    const { amount, currency, source, destination } = request;
    if (source === destination) throw sameAccount(source);

    const [payer, payee] = await lockAccounts(manager, merchantId, [source, destination]);
    if (payer.currency !== currency) throw currencyMismatch(payer, currency);
    if (payee.currency !== currency) throw currencyMismatch(payee, currency);
    if (payer.balance < amount) throw insufficientFunds(payer);

    const payment = manager.create(Payment, {
      merchantId,
      id: newPaymentId(),
      amount,
      currency,
      source,
      destination,
      refunded: 0,
    });
    await manager.insert(Payment, payment);
    await transfer(manager, {
      merchantId,
      from: source,
      to: destination,
      amount,
      currency,
      paymentId: payment.id,
    });
    return payment;
  }

  async refund(
    manager: EntityManager,
    merchantId: string,
    paymentId: string,
    { amount }: CreateRefund,
  ): Promise<Refund> {
    // Refunds of one payment wait for each other here, so each sees what the others have left.
    const payment = await manager.findOne(Payment, {
      where: { merchantId, id: paymentId },
      lock: { mode: 'pessimistic_write' },
    });
    if (!payment) throw paymentNotFound(paymentId);
    if (amount > payment.amount - payment.refunded) throw refundExceedsPayment(payment);

    const [payee] = await lockAccounts(manager, merchantId, [payment.destination, payment.source]);
    if (payee.balance < amount) throw insufficientFunds(payee);

    const refund = manager.create(Refund, { merchantId, id: newRefundId(), paymentId, amount });
    await manager.insert(Refund, refund);
    await manager.increment(Payment, { merchantId, id: paymentId }, 'refunded', amount);
    await transfer(manager, {
      merchantId,
      from: payment.destination,
      to: payment.source,
      amount,
      currency: payment.currency,
      paymentId,
      refundId: refund.id,
    });
    return refund;
  }

  async find(manager: EntityManager, merchantId: string, id: string): Promise<Payment> {
    const payment = await manager.findOneBy(Payment, { merchantId, id });
    if (!payment) throw paymentNotFound(id);
    return payment;
  }
}
