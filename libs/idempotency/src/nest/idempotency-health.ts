import { Inject, Injectable } from '@nestjs/common';
import type { DataSource } from 'typeorm';

import type { Report } from '../core/ports.js';
import { assertAccess } from '../storage/access-check.js';
import { assertSchema } from '../storage/schema-check.js';
import { DATA_SOURCE, REPORT } from './tokens.js';

/** `reason` is for operators: it may tell more of the database than callers should know. */
export type HealthReport = { readonly status: 'up' } | { readonly status: 'down'; readonly reason: string };

/** Says whether idempotent endpoints can serve: the database answers and the tables are as they must be. */
@Injectable()
export class IdempotencyHealth {
  constructor(
    @Inject(DATA_SOURCE) private readonly dataSource: DataSource,
    @Inject(REPORT) private readonly report: Report,
  ) {}

  /** Never rejects. */
  async check(): Promise<HealthReport> {
    try {
      await assertSchema(this.dataSource);
      await assertAccess(this.dataSource);
      return { status: 'up' };
    } catch (error) {
      return { status: 'down', reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /**
   * The same as an indicator of `@nestjs/terminus` (11 or later), under the name of your choice. Never rejects.
   *
   * The reason is reported to the log, and not to callers.
   *
   * @example
   * ```ts
   * this.terminus.check([() => this.idempotency.indicate('idempotency')])
   * ```
   */
  async indicate<Name extends string>(name: Name): Promise<Record<Name, { readonly status: 'up' | 'down' }>> {
    const health = await this.check();
    if (health.status === 'down') this.report('The idempotent endpoints cannot serve.', health.reason);
    return { [name]: { status: health.status } } as Record<Name, { readonly status: 'up' | 'down' }>;
  }
}
