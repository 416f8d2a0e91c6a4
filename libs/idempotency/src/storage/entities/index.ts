import { IdempotencyRecord } from './idempotency-record.entity.js';
import { IdempotencyStep } from './idempotency-step.entity.js';

/** What the data source's `entities` need for the library; with `autoLoadEntities` they come by themselves. */
export const idempotencyEntities = [IdempotencyRecord, IdempotencyStep];
