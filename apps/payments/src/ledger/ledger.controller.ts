import { Controller, Get, Query, UseGuards } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKeyGuard } from '../merchants/api-key.guard.js';
import { CurrentMerchant } from '../merchants/current-merchant.decorator.js';
import { Merchant } from '../merchants/merchant.entity.js';
import { LedgerEntry } from './ledger-entry.entity.js';
import { ListEntries } from './list-entries.dto.js';

/** The entries of one payment, or of one charge, and its refunds. Their sum is zero, whatever happened on the way. */
export interface LedgerPage {
  readonly entries: readonly LedgerEntry[];
  readonly sum: number;
}

@Controller('ledger')
@UseGuards(ApiKeyGuard)
export class LedgerController {
  constructor(private readonly dataSource: DataSource) {}

  @Get()
  async list(@CurrentMerchant() merchant: Merchant, @Query() { payment, charge }: ListEntries): Promise<LedgerPage> {
    const about = charge === undefined ? { paymentId: payment! } : { chargeId: charge };
    const entries = await this.dataSource.manager.find(LedgerEntry, {
      where: { merchantId: merchant.id, ...about },
      order: { id: 'ASC' },
    });
    return { entries, sum: entries.reduce((sum, entry) => sum + entry.amount, 0) };
  }
}
