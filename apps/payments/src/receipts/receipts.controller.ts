import { Controller, Get, Param, UseGuards } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ChargeParams } from '../charges/charge-params.dto.js';
import { ApiKeyGuard } from '../merchants/api-key.guard.js';
import { CurrentMerchant } from '../merchants/current-merchant.decorator.js';
import { Merchant } from '../merchants/merchant.entity.js';
import { ProblemException } from '../problems/problem.exception.js';
import { Receipt } from './receipt.entity.js';

@Controller('charges/:id/receipt')
@UseGuards(ApiKeyGuard)
export class ReceiptsController {
  constructor(private readonly dataSource: DataSource) {}

  @Get()
  async find(
    @CurrentMerchant() { id: merchantId }: Merchant,
    @Param() { id: chargeId }: ChargeParams,
  ): Promise<Receipt> {
    const receipt = await this.dataSource.manager.findOneBy(Receipt, { merchantId, chargeId });
    if (!receipt) throw receiptNotFound(chargeId);
    return receipt;
  }
}

const receiptNotFound = (chargeId: string): ProblemException =>
  new ProblemException({
    status: 404,
    code: 'receipt-not-found',
    title: 'Receipt not found',
    detail: `There is no receipt of ${chargeId} yet.`,
  });
