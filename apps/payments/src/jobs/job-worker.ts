import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Logger as WorkerLogger, type Runner, run, type TaskList } from 'graphile-worker';
import type { CloudEvent } from '../brokers/cloud-event.js';
import { EventPublisher } from '../outbox/event-publisher.js';
import { PUBLISH_EVENT } from '../outbox/publish-event.js';
import { ReceiptIssuer } from '../receipts/receipt-issuer.js';
import { ISSUE_RECEIPT, type ReceiptJob } from '../receipts/receipt-job.js';
import { Settings } from '../settings/settings.js';

/** Does the jobs in the queue: at least once, and again where its worker dies before the queue knows of its end. */
@Injectable()
export class JobWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Jobs');
  private runner: Runner | undefined;

  constructor(
    private readonly receipts: ReceiptIssuer,
    private readonly events: EventPublisher,
    private readonly settings: Settings,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.runner = await run({
      connectionString: this.settings.databaseUrl,
      concurrency: 2,
      noHandleSignals: true,
      parsedCronItems: [],
      logger: new WorkerLogger(() => (level: string, message) => {
        if (level === 'error') this.logger.error(message);
        if (level === 'warning') this.logger.warn(message);
      }),
      taskList: this.tasks(),
    });
    this.runner.promise.catch((error: unknown) => this.logger.error(error));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.runner?.stop();
  }

  /** A job that nobody here does stays in the queue as it is: no attempt of it is used up. */
  private tasks(): TaskList {
    return {
      [ISSUE_RECEIPT]: (job) => this.receipts.issue(job as ReceiptJob),
      ...(this.events.hasBroker && { [PUBLISH_EVENT]: (event) => this.events.publish(event as CloudEvent) }),
    };
  }
}
