import { Body, Controller, Get, Param, Post, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { Idempotent, TransactionManager } from 'nestjs-idempotency';
import { DataSource, EntityManager } from 'typeorm';
import { ApiKeyGuard } from '../merchants/api-key.guard.js';
import { CurrentMerchant } from '../merchants/current-merchant.decorator.js';
import { Merchant } from '../merchants/merchant.entity.js';
import { CreatePayment } from './create-payment.dto.js';
import { CreateRefund } from './create-refund.dto.js';
import type { Payment } from './payment.entity.js';
import { PaymentParams } from './payment-params.dto.js';
import { PaymentsService } from './payments.service.js';
import type { Refund } from './refund.entity.js';

@Controller('payments')
@UseGuards(ApiKeyGuard)
export class PaymentsController {
  constructor(
    private readonly payments: PaymentsService,
    private readonly dataSource: DataSource,
  ) {}

  @Post()
  @Idempotent()
  async create(
    @CurrentMerchant() merchant: Merchant,
    @Body() request: CreatePayment,
    @TransactionManager() manager: EntityManager,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Payment> {
    const payment = await this.payments.create(manager, merchant.id, request);
    response.location(`/payments/${payment.id}`);
    return payment;
  }

  @Post(':id/refunds')
  @Idempotent()
  refund(
    @CurrentMerchant() merchant: Merchant,
    @Param() { id }: PaymentParams,
    @Body() request: CreateRefund,
    @TransactionManager() manager: EntityManager,
  ): Promise<Refund> {
    return this.payments.refund(manager, merchant.id, id, request);
  }

  @Get(':id')
  find(@CurrentMerchant() merchant: Merchant, @Param() { id }: PaymentParams): Promise<Payment> {
    return this.payments.find(this.dataSource.manager, merchant.id, id);
  }
}
