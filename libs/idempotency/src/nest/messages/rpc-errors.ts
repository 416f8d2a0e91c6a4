import { IdempotencyError } from '../../core/errors.js';

/**
 * The error that a requester is told: what the library has to say with its stable code, anything else as the handler
 * threw it, for the application's filters.
 */
export async function replyError(error: unknown): Promise<unknown> {
  if (!(error instanceof IdempotencyError)) return error;
  const { RpcException } = await import('@nestjs/microservices');
  return new RpcException(replyOf(error));
}

/** An error that makes Kafka deliver the message again instead of going on. */
export async function kafkaRetriable(error: unknown): Promise<Error> {
  const { KafkaRetriableException } = await import('@nestjs/microservices');
  return new KafkaRetriableException(error instanceof IdempotencyError ? replyOf(error) : String(error));
}

function replyOf({ code, message, reason, retryAfterMs, resource }: IdempotencyError): object {
  return {
    status: 'error',
    code,
    message,
    ...(reason !== undefined && { reason }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(resource !== undefined && { resource }),
  };
}
