import { Body, Controller, Get, Param, Post, Query, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { Calls } from '../calls/calls.js';
import { ApiKeyGuard } from '../merchants/api-key.guard.js';
import { merchantOf } from '../merchants/current-merchant.js';
import { Settings } from '../settings/settings.js';
import { CaptureCharge } from './capture-charge.dto.js';
import { ChargeParams } from './charge-params.dto.js';
import { searchNotOffered } from './charge-problems.js';
import { ChargesService } from './charges.service.js';
import { CreateCharge } from './create-charge.dto.js';
import { Search } from './search.dto.js';

@Controller('charges')
@UseGuards(ApiKeyGuard)
export class ChargesController {
  constructor(
    private readonly calls: Calls,
    private readonly charges: ChargesService,
    private readonly settings: Settings,
  ) {}

  @Post()
  create(@Res() response: Response, @Body() body: CreateCharge): Promise<void> {
    const { reference, amount, currency, card, capture = true } = body;
    return this.calls.serve(
      response,
      { operation: 'charge', reference, terms: [amount, currency, card, capture] },
      (manager) => this.charges.create(manager, merchantOf(response.req), body),
    );
  }

  @Post(':id/capture')
  capture(@Res() response: Response, @Param() { id }: ChargeParams, @Body() body: CaptureCharge = {}): Promise<void> {
    return this.calls.serve(response, { operation: 'capture', chargeId: id, terms: [body.amount] }, (manager) =>
      this.charges.capture(manager, merchantOf(response.req), id, body),
    );
  }

  @Get(':id')
  find(@Res() response: Response, @Param() { id }: ChargeParams): Promise<void> {
    return this.calls.serve(response, { operation: 'lookup', chargeId: id }, (manager) =>
      this.charges.find(manager, merchantOf(response.req), id),
    );
  }

  @Get()
  search(@Res() response: Response, @Query() { reference }: Search): Promise<void> {
    return this.calls.serve(response, { operation: 'lookup', reference }, (manager) => {
      if (this.settings.search === 'off') throw searchNotOffered();
      return this.charges.search(manager, merchantOf(response.req), reference);
    });
  }
}
