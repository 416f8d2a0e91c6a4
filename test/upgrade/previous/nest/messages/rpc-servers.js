import { EMPTY } from 'rxjs';
const RABBITMQ = 5;
export function isRabbitMq({ transportId }) {
    return transportId === RABBITMQ;
}
export function hasDeadLetters({ options }) {
    const { deadLetterExchange, arguments: given = {} } = options?.queueOptions ?? {};
    return deadLetterExchange !== undefined || given['x-dead-letter-exchange'] !== undefined;
}
export function rpcServers(modules) {
    const { getRpcTargetRegistry: registry } = modules;
    return registry?.call(modules) ?? EMPTY;
}
