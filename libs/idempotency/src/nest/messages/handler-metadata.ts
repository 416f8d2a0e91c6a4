import type { Handler } from '../route-metadata.js';

/*
 * The names under which @nestjs/microservices keeps what its decorators say, the same in Nest 10, 11 and 12, and that
 * of @golevelup/nestjs-rabbitmq, whose symbol is its own.
 */
const PATTERN = 'microservices:pattern';
const HANDLER_TYPE = 'microservices:handler_type';
const EVENT = 2;
const RABBIT_HANDLER = 'RABBIT_HANDLER';

/** Whether messages of a broker are delivered to this method. */
export function isMessageHandler(handler: Handler): boolean {
  return isPatternHandler(handler) || isRabbitHandler(handler);
}

/** Whether it is one of @nestjs/microservices. */
export function isPatternHandler(handler: Handler): boolean {
  return Reflect.hasMetadata(PATTERN, handler);
}

/** Whether it is one of @golevelup/nestjs-rabbitmq. */
export function isRabbitHandler(handler: Handler): boolean {
  return rabbitKeys(handler).length > 0;
}

function rabbitKeys(handler: Handler): symbol[] {
  return (Reflect.getMetadataKeys(handler) as unknown[]).filter(
    (key) => typeof key === 'symbol' && key.description === RABBIT_HANDLER,
  ) as symbol[];
}

/** Whether it is an `@EventPattern()`, which nobody waits for an answer of. */
export function isEventHandler(handler: Handler): boolean {
  return Reflect.getMetadata(HANDLER_TYPE, handler) === EVENT;
}

/** Whether it is one of @golevelup/nestjs-rabbitmq that is handed several messages at once. */
export function isBatchHandler(handler: Handler): boolean {
  return rabbitKeys(handler).some((key) => {
    const options = Reflect.getMetadata(key, handler) as { readonly batchOptions?: unknown } | undefined;
    return options?.batchOptions !== undefined;
  });
}

/** What a handler of @nestjs/microservices is for, as text; empty for any other. */
export function patternsOf(handler: Handler): string[] {
  const patterns = (Reflect.getMetadata(PATTERN, handler) ?? []) as unknown[];
  return patterns.map((pattern) => JSON.stringify(pattern));
}
