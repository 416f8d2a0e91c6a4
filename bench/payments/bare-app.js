import { Body, Controller, Dependencies, Module, Post, Res, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { DatabaseModule } from '../../apps/payments/dist/database/database.module.js';
import { ApiKeyGuard } from '../../apps/payments/dist/merchants/api-key.guard.js';
import { CurrentMerchant } from '../../apps/payments/dist/merchants/current-merchant.decorator.js';
import { CreatePayment } from '../../apps/payments/dist/payments/create-payment.dto.js';
import { PaymentsService } from '../../apps/payments/dist/payments/payments.service.js';
import { ProblemsModule } from '../../apps/payments/dist/problems/problems.module.js';

/** The demo's payment as one writes it without the library: the same work in a transaction of the controller's own. */
class BarePaymentsController {
  constructor(payments, dataSource) {
    this.payments = payments;
    this.dataSource = dataSource;
  }

  async create(merchant, request, response) {
    const payment = await this.dataSource.transaction((manager) => this.payments.create(manager, merchant.id, request));
    response.location(`/payments/${payment.id}`);
    return payment;
  }
}

Controller('payments')(BarePaymentsController);
UseGuards(ApiKeyGuard)(BarePaymentsController);
Dependencies(PaymentsService, DataSource)(BarePaymentsController);

const { prototype } = BarePaymentsController;
CurrentMerchant()(prototype, 'create', 0);
Body()(prototype, 'create', 1);
Res({ passthrough: true })(prototype, 'create', 2);
// The validation pipe reads here what TypeScript would have written.
Reflect.defineMetadata('design:paramtypes', [Object, CreatePayment, Object], prototype, 'create');
Post()(prototype, 'create', Object.getOwnPropertyDescriptor(prototype, 'create'));

class BareModule {}
Module({ controllers: [BarePaymentsController], providers: [PaymentsService] })(BareModule);

/** The app, not yet listening; made by the same settings as the demo's own. */
export const createBareApp = ({ databaseUrl }) =>
  NestFactory.create(
    { module: BareModule, imports: [DatabaseModule.forRoot(databaseUrl), ProblemsModule] },
    { abortOnError: false, logger: ['warn', 'error', 'fatal'] },
  );
