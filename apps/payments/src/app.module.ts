import { type DynamicModule, type ExecutionContext, Module } from '@nestjs/common';
import { IdempotencyModule } from 'nestjs-idempotency';
import { AccountsModule } from './accounts/accounts.module.js';
import { ChargesModule } from './charges/charges.module.js';
import { DatabaseModule } from './database/database.module.js';
import { HealthModule } from './health/health.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { LedgerModule } from './ledger/ledger.module.js';
import { merchantOf } from './merchants/current-merchant.decorator.js';
import { PaymentsModule } from './payments/payments.module.js';
import { ProblemsModule } from './problems/problems.module.js';
import type { AppOptions } from './settings/app-options.js';
import { Settings } from './settings/settings.js';
import { SettingsModule } from './settings/settings.module.js';
import { bankOf } from './settlements/settlement-event.js';
import { SettlementsModule } from './settlements/settlements.module.js';
import { senderOf } from './webhooks/webhook-sender.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

@Module({})
export class AppModule {
  static forRoot(options: AppOptions): DynamicModule {
    const settings = new Settings(options);
    return {
      module: AppModule,
      imports: [
        SettingsModule.forRoot(settings),
        DatabaseModule.forRoot(settings.databaseUrl),
        IdempotencyModule.forRoot({
          tenant,
          providerKeySecret: settings.providerKeySecret,
          messages: { maxTries: settings.messageTries },
        }),
        ProblemsModule,
        AccountsModule,
        PaymentsModule,
        ChargesModule,
        WebhooksModule,
        SettlementsModule,
        JobsModule,
        LedgerModule,
        HealthModule,
      ],
    };
  }
}

/** Whoever a guard has found out to be calling, or whose event it is. */
const tenant = (context: ExecutionContext): string | undefined =>
  context.getType() === 'rpc'
    ? bankOf(context.switchToRpc().getData())
    : (merchantOf(context)?.id ?? senderOf(context));
