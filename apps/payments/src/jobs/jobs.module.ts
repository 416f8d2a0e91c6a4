import { Module } from '@nestjs/common';
import { OutboxModule } from '../outbox/outbox.module.js';
import { ReceiptsModule } from '../receipts/receipts.module.js';
import { JobWorker } from './job-worker.js';

@Module({ imports: [OutboxModule, ReceiptsModule], providers: [JobWorker] })
export class JobsModule {}
