import { Body, Controller, Get, Param, Post, Query, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { Calls } from '../calls/calls.js';
import { ChargeParams } from '../charges/charge-params.dto.js';
import { searchNotOffered } from '../charges/charge-problems.js';
import { Search } from '../charges/search.dto.js';
import { ApiKeyGuard } from '../merchants/api-key.guard.js';
import { merchantOf } from '../merchants/current-merchant.js';
import { Settings } from '../settings/settings.js';
import { CreateRefund } from './create-refund.dto.js';
import { RefundsService } from './refunds.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class RefundsController {
  constructor(
    private readonly calls: Calls,
    private readonly refunds: RefundsService,
    private readonly settings: Settings,
  ) {}

  @Post('charges/:id/refunds')
  create(@Res() response: Response, @Param() { id }: ChargeParams, @Body() body: CreateRefund = {}): Promise<void> {
    const { reference, amount } = body;
    return this.calls.serve(response, { operation: 'refund', chargeId: id, reference, terms: [amount] }, (manager) =>
      this.refunds.create(manager, merchantOf(response.req), id, body),
    );
  }

  @Get('refunds')
  search(@Res() response: Response, @Query() { reference }: Search): Promise<void> {
    return this.calls.serve(response, { operation: 'lookup', reference }, (manager) => {
      if (this.settings.search === 'off') throw searchNotOffered();
      return this.refunds.search(manager, merchantOf(response.req), reference);
    });
  }
}
