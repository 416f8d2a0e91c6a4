export { IdempotencyError, type IdempotencyErrorCode } from './core/errors.js';
export type { Isolation } from './core/attempt.js';
export type { OutcomeEvent } from './core/observation.js';
export type { Channel, OutcomeName } from './core/outcome.js';
export { StepRefusedError, type StepCall, type StepFailure, type WhenUnknown } from './core/steps.js';
export { failureOf, failureOfStatus } from './core/step-failure.js';
export { aes256Gcm, type Aes256GcmOptions, type BodyProtection, type SealedBody } from './core/body-protection.js';
export { type IdempotencyCors, idempotencyCors, type IdempotencyCorsOptions } from './http/cross-origin.js';
export type { FingerprintOptions } from './http/fingerprint-options.js';
export type { ErrorRule } from './http/judge.js';
export { DEFAULT_KEY_HEADER } from './http/key-header.js';
export type { Envelope } from './messaging/envelope.js';
export { contentId, messageIdOf } from './messaging/message-id.js';
export type { Outcome, ParkReason, Settlement } from './messaging/settlement.js';
export type { Problem } from './http/problem.js';
export type { Duration } from './nest/duration.js';
export { IdempotencyContext } from './nest/idempotency-context.js';
export { type HealthReport, IdempotencyHealth } from './nest/idempotency-health.js';
export { IdempotencyException } from './nest/idempotency.exception.js';
export {
  IdempotencyService,
  type ConsumedMessage,
  type OperationOptions,
  type OperationRequest,
} from './nest/idempotency.service.js';
export type { OperationWork } from './nest/operation-runs.js';
export { IdempotencyModule } from './nest/idempotency.module.js';
export type { IdempotentOperation, StepOptions } from './nest/idempotent-operation.js';
export { Idempotent } from './nest/idempotent.decorator.js';
export type {
  EndpointOptions,
  Fingerprinter,
  IdempotencyModuleAsyncOptions,
  IdempotencyModuleOptions,
  IdempotentOptions,
  MessageOptions,
  ParkedMessage,
  ReplayedRecord,
} from './nest/options.js';
export type { NotResolved, StepOutcome } from './maintenance/resolve-step.js';
export { IdempotentOperations } from './nest/idempotent-operations.js';
export { Operation } from './nest/operation.decorator.js';
export { type ReconciledAnswer, Reconciles } from './nest/reconciles.decorator.js';
export { TransactionManager } from './nest/transaction-manager.decorator.js';
export { IdempotencyRecord } from './storage/entities/idempotency-record.entity.js';
export type { TransactionOpener } from './storage/joined-transactions.js';
export { IdempotencyStep } from './storage/entities/idempotency-step.entity.js';
export { idempotencyEntities } from './storage/entities/index.js';
export { migrateOnce, type MigrationOptions } from './storage/migrate-once.js';
export { idempotencyMigrations } from './storage/migrations/index.js';
export { schemaSql } from './storage/schema-sql.js';
