import { Controller, Get, UseGuards } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKeyGuard } from '../merchants/api-key.guard.js';
import { CurrentMerchant } from '../merchants/current-merchant.decorator.js';
import { Merchant } from '../merchants/merchant.entity.js';
import { Account } from './account.entity.js';

@Controller('accounts')
@UseGuards(ApiKeyGuard)
export class AccountsController {
  constructor(private readonly dataSource: DataSource) {}

  @Get()
  list(@CurrentMerchant() merchant: Merchant): Promise<Account[]> {
    return this.dataSource.manager.find(Account, { where: { merchantId: merchant.id }, order: { id: 'ASC' } });
  }
}
