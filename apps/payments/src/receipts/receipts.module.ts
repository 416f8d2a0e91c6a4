import { Module } from '@nestjs/common';
import { ReceiptIssuer } from './receipt-issuer.js';
import { ReceiptQueue } from './receipt-queue.js';
import { ReceiptsController } from './receipts.controller.js';

@Module({
  controllers: [ReceiptsController],
  providers: [ReceiptQueue, ReceiptIssuer],
  exports: [ReceiptQueue, ReceiptIssuer],
})
export class ReceiptsModule {}
