import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { bankAccountOf, clearingAccountOf } from '../accounts/house-accounts.js';
import { lockAccounts } from '../accounts/lock-accounts.js';
import { Charge } from '../charges/charge.entity.js';
import { transfer } from '../ledger/transfer.js';
import { Settlement } from './settlement.entity.js';
import { settlementIn } from './settlement-event.js';

/** Posts the money that has arrived at the bank. It knows nothing of brokers, and nothing of events that come twice. */
@Injectable()
export class SettlementsService {
  /**
   * Posts what the event tells: the card provider holds that much less, and the bank that much more. Works through the
   * manager it is given, inside the caller's transaction; what it rejects with is for somebody to look at.
   */
  async post(manager: EntityManager, event: unknown): Promise<{ readonly settlement: string }> {
    const settlement = settlementIn(event);
    const { merchantId, chargeId, id, amount, currency } = settlement;
    await assertTaken(manager, settlement);
    const [from, to] = [bankAccountOf(currency), clearingAccountOf(currency)];
    await lockAccounts(manager, merchantId, [from, to], ['bank', 'clearing']);
    await manager.insert(Settlement, settlement);
    await transfer(manager, { merchantId, from, to, amount, currency, chargeId, settlementId: id });
    return { settlement: id };
  }
}

/** No more arrives than was taken. The charge is locked: other settlements of it wait. */
async function assertTaken(
  manager: EntityManager,
  { merchantId, chargeId, amount, currency }: Omit<Settlement, 'createdAt'>,
): Promise<void> {
  const charge = await manager.findOne(Charge, {
    where: { merchantId, id: chargeId },
    lock: { mode: 'pessimistic_write' },
  });
  if (charge?.status !== 'captured') throw new Error(`Nothing was taken for ${chargeId} yet.`);
  if (charge.currency !== currency) throw new Error(`${chargeId} is in ${charge.currency}, not ${currency}.`);
  const arrived = (await manager.sum(Settlement, 'amount', { merchantId, chargeId })) ?? 0;
  if (arrived + amount > charge.captured) throw new Error(`Less than that was taken for ${chargeId}.`);
}
