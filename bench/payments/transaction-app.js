import { NestFactory } from '@nestjs/core';
import { IdempotencyModule } from 'nestjs-idempotency';
import { AppModule } from '../../apps/payments/dist/app.module.js';
import { merchantOf } from '../../apps/payments/dist/merchants/current-merchant.decorator.js';

class TransactionAppModule {}

/** The demo as it is but for how it claims; not yet listening. */
export const createTransactionApp = ({ databaseUrl }) => {
  const claiming = IdempotencyModule.forRoot({
    tenant: (context) => merchantOf(context)?.id,
    claim: 'transaction',
  });
  const { imports } = AppModule.forRoot({ databaseUrl });
  return NestFactory.create(
    {
      module: TransactionAppModule,
      imports: imports.map((imported) => (imported.module === IdempotencyModule ? claiming : imported)),
    },
    { abortOnError: false, logger: ['warn', 'error', 'fatal'] },
  );
};
