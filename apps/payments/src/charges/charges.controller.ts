import { Body, Controller, type ExecutionContext, Get, Param, Post, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Idempotent, type IdempotentOperation, Operation } from 'nestjs-idempotency';
import { DataSource } from 'typeorm';
import { ApiKeyGuard } from '../merchants/api-key.guard.js';
import { CurrentMerchant } from '../merchants/current-merchant.decorator.js';
import { Merchant } from '../merchants/merchant.entity.js';
import type { Charge } from './charge.entity.js';
import { ENDPOINTS } from './charge-endpoints.js';
import { ChargeOperations } from './charge-operations.js';
import { ChargeParams } from './charge-params.dto.js';
import { notCaptured } from './charge-problems.js';
import type { ChargeRefund } from './charge-refund.entity.js';
import { ChargesService } from './charges.service.js';
import { CreateChargeRefund } from './create-charge-refund.dto.js';
import { CreateCharge } from './create-charge.dto.js';

/**
 * Before its step a handler looks only at what cannot change back: a retry that looked at anything else could be refused,
 * for good, what an earlier attempt has done.
 */
@Controller('charges')
@UseGuards(ApiKeyGuard)
export class ChargesController {
  constructor(
    private readonly operations: ChargeOperations,
    private readonly charges: ChargesService,
    private readonly dataSource: DataSource,
  ) {}

  @Post()
  @Idempotent({ endpoint: ENDPOINTS.charge, transaction: 'manual' })
  async create(
    @CurrentMerchant() merchant: Merchant,
    @Body() request: CreateCharge,
    @Operation() operation: IdempotentOperation,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Charge> {
    await this.charges.assertOffered(this.dataSource.manager, merchant.id, request.currency);
    const charge = await this.operations.charge(operation, request);
    response.location(`/charges/${charge.id}`);
    return charge;
  }

  /** A charge is captured once, so it is its own key. One that is not there is not there yet. */
  @Post(':id/capture')
  @Idempotent({
    endpoint: ENDPOINTS.capture,
    transaction: 'manual',
    key: chargeIdOf,
    errors: (_, status) => (status === 404 ? 'release' : undefined),
  })
  async capture(
    @CurrentMerchant() merchant: Merchant,
    @Param() { id }: ChargeParams,
    @Operation() operation: IdempotentOperation,
  ): Promise<Charge> {
    const charge = await this.charges.find(this.dataSource.manager, merchant.id, id);
    return this.operations.capture(operation, charge);
  }

  @Post(':id/refunds')
  @Idempotent({ endpoint: ENDPOINTS.refund, transaction: 'manual' })
  async refund(
    @CurrentMerchant() merchant: Merchant,
    @Param() { id }: ChargeParams,
    @Body() { amount }: CreateChargeRefund,
    @Operation() operation: IdempotentOperation,
  ): Promise<ChargeRefund> {
    const charge = await this.charges.find(this.dataSource.manager, merchant.id, id);
    if (charge.status !== 'captured') throw notCaptured(charge);
    return this.operations.refund(operation, charge, amount);
  }

  @Get(':id')
  find(@CurrentMerchant() merchant: Merchant, @Param() { id }: ChargeParams): Promise<Charge> {
    return this.charges.find(this.dataSource.manager, merchant.id, id);
  }
}

function chargeIdOf(context: ExecutionContext): string | undefined {
  return context.switchToHttp().getRequest<Request<{ id: string }>>().params.id;
}
