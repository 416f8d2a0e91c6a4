import { Controller, Get, Logger } from '@nestjs/common';
import { IdempotencyHealth } from 'nestjs-idempotency';
import { DataSource } from 'typeorm';
import { Account } from '../accounts/account.entity.js';
import { ProblemException } from '../problems/problem.exception.js';

@Controller('health')
export class HealthController {
  private readonly logger = new Logger('Health');

  constructor(
    private readonly dataSource: DataSource,
    private readonly idempotency: IdempotencyHealth,
  ) {}

  /** Up when the database answers and holds the tables of the app and of the idempotency library. */
  @Get()
  async check(): Promise<{ status: 'up' }> {
    const idempotency = await this.idempotency.check();
    if (idempotency.status === 'down') {
      this.logger.error(idempotency.reason);
      throw unhealthy('The database does not answer, or lacks the tables of the idempotency library.');
    }
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
