import { Module } from '@nestjs/common';
import { ReceiptQueue } from './receipt-queue.js';
import { ReceiptsController } from './receipts.controller.js';
import { ReceiptWorker } from './receipt-worker.js';

@Module({ controllers: [ReceiptsController], providers: [ReceiptQueue, ReceiptWorker], exports: [ReceiptQueue] })
export class ReceiptsModule {}
