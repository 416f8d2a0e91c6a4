import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Logger as WorkerLogger, type Runner, run } from 'graphile-worker';
import { DataSource } from 'typeorm';
import { Settings } from '../settings/settings.js';
import { ISSUE_RECEIPT, type ReceiptJob } from './receipt-job.js';

/** Issues receipts. A job is done at least once, and again where its worker dies before the queue knows of its end. */
@Injectable()
export class ReceiptWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Receipts');
  private runner: Runner | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: Settings,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.runner = await run({
      connectionString: this.settings.databaseUrl,
      concurrency: 1,
      noHandleSignals: true,
      parsedCronItems: [],
      logger: new WorkerLogger(() => (level: string, message) => {
        if (level === 'error') this.logger.error(message);
        if (level === 'warning') this.logger.warn(message);
      }),
      taskList: { [ISSUE_RECEIPT]: (job) => this.issue(job as ReceiptJob) },
    });
    this.runner.promise.catch((error: unknown) => this.logger.error(error));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.runner?.stop();
  }

  /** One receipt a charge, however often the job is done. */
  private async issue({ merchantId, chargeId }: ReceiptJob): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO receipts (merchant_id, charge_id, amount, currency)
       SELECT merchant_id, id, captured, currency FROM charges WHERE merchant_id = $1 AND id = $2
       ON CONFLICT DO NOTHING`,
      [merchantId, chargeId],
    );
  }
}
