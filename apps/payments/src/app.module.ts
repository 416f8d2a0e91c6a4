import { type DynamicModule, Module } from '@nestjs/common';
import { IdempotencyModule } from 'nestjs-idempotency';
import { AccountsModule } from './accounts/accounts.module.js';
import { DatabaseModule } from './database/database.module.js';
import { HealthModule } from './health/health.module.js';
import { LedgerModule } from './ledger/ledger.module.js';
import { merchantOf } from './merchants/current-merchant.decorator.js';
import { PaymentsModule } from './payments/payments.module.js';
import { ProblemsModule } from './problems/problems.module.js';

export interface AppOptions {
  readonly databaseUrl: string;
}

@Module({})
export class AppModule {
  static forRoot({ databaseUrl }: AppOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        DatabaseModule.forRoot(databaseUrl),
        IdempotencyModule.forRoot({ tenant: (context) => merchantOf(context)?.id }),
        ProblemsModule,
        AccountsModule,
        PaymentsModule,
        LedgerModule,
        HealthModule,
      ],
    };
  }
}
