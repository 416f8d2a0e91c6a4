import { Inject, Injectable } from '@nestjs/common';
import type { DataSource } from 'typeorm';

import { assertSchema } from '../storage/schema-check.js';
import { DATA_SOURCE } from './tokens.js';

/** `reason` is for operators: it may tell more of the database than callers should know. */
export type HealthReport = { readonly status: 'up' } | { readonly status: 'down'; readonly reason: string };

/** Says whether idempotent endpoints can serve: the database answers and the tables are as they must be. */
@Injectable()
export class IdempotencyHealth {
  constructor(@Inject(DATA_SOURCE) private readonly dataSource: DataSource) {}

  /** Never rejects. */
  async check(): Promise<HealthReport> {
    try {
      await assertSchema(this.dataSource);
      return { status: 'up' };
    } catch (error) {
      return { status: 'down', reason: error instanceof Error ? error.message : String(error) };
    }
  }
}
