import type { EntityManager } from 'typeorm';
import { Account, type AccountKind } from '../accounts/account.entity.js';
import { bankAccountOf, clearingAccountOf, salesAccountOf } from '../accounts/house-accounts.js';
import { transfer } from '../ledger/transfer.js';
import { hashApiKey } from '../merchants/api-key.js';
import { Merchant } from '../merchants/merchant.entity.js';
import { type DemoMerchant, demoMerchants } from './demo-merchants.js';

/** Adds the demo's merchants that are not there yet. Call it with nobody else seeding. */
export async function seed(manager: EntityManager): Promise<void> {
  for (const merchant of demoMerchants) {
    if (!(await manager.existsBy(Merchant, { id: merchant.id }))) await addMerchant(manager, merchant);
  }
}

async function addMerchant(
  manager: EntityManager,
  { id: merchantId, name, apiKey, accounts }: DemoMerchant,
): Promise<void> {
  await manager.insert(Merchant, { id: merchantId, name, apiKeySha256: hashApiKey(apiKey) });

  const currencies = [...new Set(accounts.map(({ currency }) => currency))];
  const house = currencies.flatMap((currency) => [
    account(equityOf(currency), 'equity', currency),
    account(clearingAccountOf(currency), 'clearing', currency),
    account(salesAccountOf(currency), 'sales', currency),
    account(bankAccountOf(currency), 'bank', currency),
  ]);
  const customers = accounts.map(({ id, currency }) => account(id, 'customer', currency));
  await manager.insert(
    Account,
    [...house, ...customers].map((opened) => ({ merchantId, ...opened, balance: 0 })),
  );

  for (const { id: to, currency, opening: amount } of accounts) {
    if (amount > 0) await transfer(manager, { merchantId, from: equityOf(currency), to, amount, currency });
  }
}

const account = (id: string, kind: AccountKind, currency: string) => ({ id, kind, currency });

const equityOf = (currency: string): string => `equity_${currency}`;
