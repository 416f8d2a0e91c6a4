import { Controller, Get } from '@nestjs/common';
import { IdempotencyHealth } from 'nestjs-idempotency';
import { DataSource } from 'typeorm';
import { Account } from '../accounts/account.entity.js';
import { ProblemException } from '../problems/problem.exception.js';

@Controller('health')
export class HealthController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly idempotency: IdempotencyHealth,
  ) {}

  /** Up when the database answers and holds the tables of the app and of the idempotency library. */
  @Get()
  async check(): Promise<{ status: 'up' }> {
    const idempotency = await this.idempotency.check();
    if (idempotency.status === 'down') throw unhealthy(idempotency.reason);
    try {
      await this.dataSource.manager.exists(Account);
    } catch {
      throw unhealthy('The tables of the app cannot be read.');
    }
    return { status: 'up' };
  }
}

const unhealthy = (detail: string): ProblemException =>
  new ProblemException({ status: 503, code: 'unhealthy', title: 'Unhealthy', detail });
