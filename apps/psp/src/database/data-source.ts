import { DataSource } from 'typeorm';
import { Charge } from '../charges/charge.entity.js';
import { KeptAnswer } from '../keys/kept-answer.entity.js';
import { Refund } from '../refunds/refund.entity.js';
import { WebhookEvent } from '../webhooks/webhook-event.entity.js';
import { CreateBook1767225600000 } from './migrations/1767225600000-create-book.js';

export const createDataSource = (databaseUrl: string): DataSource =>
  new DataSource({
    type: 'postgres',
    url: databaseUrl,
    applicationName: 'psp',
    entities: [Charge, Refund, KeptAnswer, WebhookEvent],
    migrations: [CreateBook1767225600000],
  });

/** A connected data source whose schema is up to date. */
export async function openDataSource(databaseUrl: string): Promise<DataSource> {
  const dataSource = await createDataSource(databaseUrl).initialize();
  try {
    await bringUpToDate(dataSource);
    return dataSource;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
}

/** Runs the pending migrations, one process at a time. The lock goes with its transaction when the process dies. */
async function bringUpToDate(dataSource: DataSource): Promise<void> {
  await dataSource.transaction('READ COMMITTED', async (manager) => {
    await manager.query(`SELECT pg_advisory_xact_lock(hashtextextended('psp: bring up to date', 0))`);
    await dataSource.runMigrations();
  });
}
