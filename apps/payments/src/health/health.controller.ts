import { Controller, Get } from '@nestjs/common';
import {
  HealthCheck,
  type HealthCheckResult,
  HealthCheckService,
  type HealthIndicatorResult,
  HealthIndicatorService,
} from '@nestjs/terminus';
import { IdempotencyHealth } from 'nestjs-idempotency';
import { DataSource } from 'typeorm';
import { Account } from '../accounts/account.entity.js';

@Controller('health')
export class HealthController {
  constructor(
    private readonly terminus: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly dataSource: DataSource,
    private readonly idempotency: IdempotencyHealth,
  ) {}

  /** Up when the database answers and holds the tables of the app and of the idempotency library. */
  @Get()
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.terminus.check([() => this.idempotency.indicate('idempotency'), () => this.accounts()]);
  }

  private async accounts(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('accounts');
    try {
      await this.dataSource.manager.exists(Account);
      return indicator.up();
    } catch {
      return indicator.down();
    }
  }
}
