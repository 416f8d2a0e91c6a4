import { IdempotencyRecord } from './idempotency-record.entity.js';
import { IdempotencyStep } from './idempotency-step.entity.js';
export const idempotencyEntities = [IdempotencyRecord, IdempotencyStep];
