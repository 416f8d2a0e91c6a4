import { of } from 'rxjs';
import { IdempotencyError } from '../../core/errors.js';
export async function replyOf({ outcome }) {
    if ('value' in outcome)
        return of(outcome.value);
    throw await replyError(outcome.error);
}
export async function replyError(error) {
    if (!(error instanceof IdempotencyError))
        return error;
    const { RpcException } = await import('@nestjs/microservices');
    return new RpcException(described(error));
}
export async function kafkaRetriable(error) {
    const { KafkaRetriableException } = await import('@nestjs/microservices');
    return new KafkaRetriableException(error instanceof IdempotencyError ? described(error) : String(error));
}
function described({ code, message, reason, retryAfterMs, resource }) {
    return {
        status: 'error',
        code,
        message,
        ...(reason !== undefined && { reason }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        ...(resource !== undefined && { resource }),
    };
}
