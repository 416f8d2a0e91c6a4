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
  return Reflect.getMetadataKeys(handler).some(
    (key: unknown) => typeof key === 'symbol' && key.description === RABBIT_HANDLER,
  );
}

/** What an `@EventPattern()` subscribes to, as text; empty for any other handler. */
export function eventPatterns(handler: Handler): string[] {
  if (Reflect.getMetadata(HANDLER_TYPE, handler) !== EVENT) return [];
  return (Reflect.getMetadata(PATTERN, handler) as unknown[]).map((pattern) => JSON.stringify(pattern));
}
