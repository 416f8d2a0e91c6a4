import { runMigrations } from 'graphile-worker';
import { idempotencyEntities, idempotencyMigrations, migrateOnce } from 'nestjs-idempotency';
import { DataSource } from 'typeorm';
import { Account } from '../accounts/account.entity.js';
import { Charge } from '../charges/charge.entity.js';
import { ChargeRefund } from '../charges/charge-refund.entity.js';
import { LedgerEntry } from '../ledger/ledger-entry.entity.js';
import { Merchant } from '../merchants/merchant.entity.js';
import { Payment } from '../payments/payment.entity.js';
import { Refund } from '../payments/refund.entity.js';
import { Receipt } from '../receipts/receipt.entity.js';
import { Settlement } from '../settlements/settlement.entity.js';
import { CreatePaymentsAndLedger1767225600000 } from './migrations/1767225600000-create-payments-and-ledger.js';
import { CreateCharges1767312000000 } from './migrations/1767312000000-create-charges.js';
import { CreateSettlements1767398400000 } from './migrations/1767398400000-create-settlements.js';
import { seed } from './seed.js';

export const createDataSource = (databaseUrl: string): DataSource =>
  new DataSource({
    type: 'postgres',
    url: databaseUrl,
    applicationName: 'payments',
    entities: [
      Merchant,
      Account,
      Payment,
      Refund,
      Charge,
      ChargeRefund,
      LedgerEntry,
      Receipt,
      Settlement,
      ...idempotencyEntities,
    ],
    migrations: [
      CreatePaymentsAndLedger1767225600000,
      CreateCharges1767312000000,
      CreateSettlements1767398400000,
      ...idempotencyMigrations,
    ],
  });

/** A connected data source whose schema is up to date and whose demo data is in place. */
export async function openDataSource(databaseUrl: string): Promise<DataSource> {
  const dataSource = await createDataSource(databaseUrl).initialize();
  try {
    await bringUpToDate(dataSource, databaseUrl);
    return dataSource;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}

/** Runs the pending migrations, then those of the job queue and the seed, one process at a time. */
async function bringUpToDate(dataSource: DataSource, databaseUrl: string): Promise<void> {
  await migrateOnce(dataSource);
  await dataSource.transaction('READ COMMITTED', async (manager) => {
    await manager.query(`SELECT pg_advisory_xact_lock(hashtextextended('payments: bring up to date', 0))`);
    await runMigrations({ connectionString: databaseUrl });
    await seed(manager);
  });
}
