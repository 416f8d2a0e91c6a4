import type { EntityManager } from 'typeorm';
import { Account } from '../accounts/account.entity.js';
import { LedgerEntry } from './ledger-entry.entity.js';

export interface Transfer {
  readonly merchantId: string;
  readonly from: string;
  readonly to: string;
  readonly amount: number;
  readonly currency: string;
  readonly paymentId?: string;
  readonly refundId?: string;
  readonly chargeId?: string;
  readonly chargeRefundId?: string;
  readonly settlementId?: string;
}

/**
 * Moves money: two entries that sum to zero, and the two balances they add up to. Nothing else writes a balance.
 *
 * The caller holds both account rows and has seen that there is enough.
 */
export async function transfer(manager: EntityManager, { from, to, amount, ...reference }: Transfer): Promise<void> {
  await manager.insert(LedgerEntry, [
    { ...reference, accountId: from, amount: -amount },
    { ...reference, accountId: to, amount },
  ]);
  const { merchantId } = reference;
  await manager.decrement(Account, { merchantId, id: from }, 'balance', amount);
  await manager.increment(Account, { merchantId, id: to }, 'balance', amount);
}
