/* Injection tokens; symbols that are the same in every copy of the library. */
export const OPTIONS = Symbol.for('nestjs-idempotency:options');
export const SETTINGS = Symbol.for('nestjs-idempotency:settings');
export const DATA_SOURCE = Symbol.for('nestjs-idempotency:data-source');
export const ENDPOINTS = Symbol.for('nestjs-idempotency:endpoints');
export const HTTP_ATTEMPTS = Symbol.for('nestjs-idempotency:http-attempts');
export const RENEWAL = Symbol.for('nestjs-idempotency:renewal');
export const RENEWER = Symbol.for('nestjs-idempotency:renewer');
export const BACKLOG = Symbol.for('nestjs-idempotency:backlog');
export const OUTCOMES = Symbol.for('nestjs-idempotency:outcomes');
export const EXECUTOR = Symbol.for('nestjs-idempotency:executor');
export const OPERATION_MEANS = Symbol.for('nestjs-idempotency:operation-means');
export const OPERATION_RUNS = Symbol.for('nestjs-idempotency:operation-runs');
export const CONSUMPTION = Symbol.for('nestjs-idempotency:consumption');
export const SWEEPER = Symbol.for('nestjs-idempotency:sweeper');
export const HOLDS = Symbol.for('nestjs-idempotency:holds');
export const MESSAGE_ARRIVALS = Symbol.for('nestjs-idempotency:message-arrivals');
export const REPORT = Symbol.for('nestjs-idempotency:report');
