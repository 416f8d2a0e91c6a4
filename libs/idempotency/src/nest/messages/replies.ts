import { type Observable, of } from 'rxjs';

import { IdempotencyError } from '../../core/errors.js';
import type { Settlement } from '../../messaging/settlement.js';

/** What a requester is given of an operation that is done; rejects where its value was not kept. */
export async function replyOf({ outcome }: Settlement & { kind: 'acknowledge' }): Promise<Observable<unknown>> {
  if ('value' in outcome) return of(outcome.value);
  throw await replyError(outcome.error);
}

/**
 * The error that a requester is told: what the library has to say with its stable code, anything else as the handler
 * threw it, for the application's filters.
 */
export async function replyError(error: unknown): Promise<unknown> {
  if (!(error instanceof IdempotencyError)) return error;
  const { RpcException } = await import('@nestjs/microservices');
  return new RpcException(described(error));
}

/** An error that makes Kafka deliver the message again instead of going on. */
export async function kafkaRetriable(error: unknown): Promise<Error> {
  const { KafkaRetriableException } = await import('@nestjs/microservices');
  return new KafkaRetriableException(error instanceof IdempotencyError ? described(error) : String(error));
}

function described({ code, message, reason, retryAfterMs, resource }: IdempotencyError): object {
  return {
    status: 'error',
    code,
    message,
    ...(reason !== undefined && { reason }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(resource !== undefined && { resource }),
  };
}
