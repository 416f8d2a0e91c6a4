import { type DynamicModule, Module } from '@nestjs/common';
import { BookModule } from './book/book.module.js';
import { ChargesModule } from './charges/charges.module.js';
import { ControlModule } from './control/control.module.js';
import { DatabaseModule } from './database/database.module.js';
import { ProblemsModule } from './problems/problems.module.js';
import { RefundsModule } from './refunds/refunds.module.js';
import type { AppOptions } from './settings/app-options.js';
import { SettingsModule } from './settings/settings.module.js';
import { ShutdownModule } from './shutdown/shutdown.module.js';

@Module({})
export class AppModule {
  static forRoot(options: AppOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        SettingsModule.forRoot(options),
        ShutdownModule,
        DatabaseModule.forRoot(options.databaseUrl),
        ProblemsModule,
        ChargesModule,
        RefundsModule,
        BookModule,
        ControlModule,
      ],
    };
  }
}
