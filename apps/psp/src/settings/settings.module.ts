import { type DynamicModule, Module } from '@nestjs/common';
import type { AppOptions } from './app-options.js';
import { Settings } from './settings.js';

@Module({})
export class SettingsModule {
  static forRoot(options: AppOptions): DynamicModule {
    return {
      module: SettingsModule,
      global: true,
      providers: [{ provide: Settings, useValue: new Settings(options) }],
      exports: [Settings],
    };
  }
}
