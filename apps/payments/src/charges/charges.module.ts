import { Module } from '@nestjs/common';
import { OutboxModule } from '../outbox/outbox.module.js';
import { ProviderModule } from '../provider/provider.module.js';
import { ReceiptsModule } from '../receipts/receipts.module.js';
import { ChargeOperations } from './charge-operations.js';
import { ChargeReconciler } from './charge-reconciler.js';
import { ChargesController } from './charges.controller.js';
import { ChargesService } from './charges.service.js';

@Module({
  imports: [ProviderModule, ReceiptsModule, OutboxModule],
  controllers: [ChargesController],
  providers: [ChargesService, ChargeOperations, ChargeReconciler],
  exports: [ChargesService],
})
export class ChargesModule {}
