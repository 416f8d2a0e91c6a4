import 'reflect-metadata';

import type { Type } from '@nestjs/common';

import { currentAttempt } from './attempt-context.js';
import { isMessageHandler } from './messages/handler-metadata.js';
import type { IdempotentOptions } from './options.js';
import { type Handler, isRoute, isSafeRoute } from './route-metadata.js';

/** What `@Idempotent()` leaves on a handler. */
export interface IdempotentMark {
  readonly options: IdempotentOptions;
  /** Ties the wrapper that was made for this handler to its route, whatever other functions stand between them. */
  readonly wrapper: symbol;
  /** The handler as it was written. */
  readonly original: Handler;
}

const MARK = Symbol.for('nestjs-idempotency:idempotent');
const DECLARED = Symbol.for('nestjs-idempotency:declared');
const CLASS_LEVEL = Symbol.for('nestjs-idempotency:class-level');

/**
 * Makes a handler's retries harmless: its writes and its answer are committed together, once per key.
 *
 * On a class, every handler of it that may change something, unless it carries a decorator of its own.
 *
 * @example
 * ```ts
 * @Post()
 * @Idempotent({ retention: '7d' })
 * create(@Body() dto: CreatePayment, @TransactionManager() manager: EntityManager) {
 *   return this.payments.create(dto, manager);
 * }
 * ```
 */
export function Idempotent(options: IdempotentOptions = {}): ClassDecorator & MethodDecorator {
  return ((target: object, property?: string | symbol, descriptor?: TypedPropertyDescriptor<Handler>) => {
    if (property === undefined) return decorateClass(target as Type, options);
    if (!descriptor) throw new Error('@Idempotent() goes on a class or on a method.');
    return decorateMethod(target, property, descriptor, options);
  }) as ClassDecorator & MethodDecorator;
}

/** The mark of a handler, if `@Idempotent()` left one. */
export function idempotentMark(handler: Handler): IdempotentMark | undefined {
  return Reflect.getMetadata(MARK, handler) as IdempotentMark | undefined;
}

/** The names of a controller's methods that were declared idempotent, also where the mark was lost since. */
export function declaredMethods(controller: Type): ReadonlySet<string | symbol> {
  return (Reflect.getMetadata(DECLARED, controller) as ReadonlySet<string | symbol> | undefined) ?? new Set();
}

/** Whether `@Idempotent()` stands on the class itself. */
export function isDeclaredIdempotent(controller: Type): boolean {
  return Reflect.hasOwnMetadata(CLASS_LEVEL, controller);
}

function decorateMethod(
  prototype: object,
  property: string | symbol,
  descriptor: TypedPropertyDescriptor<Handler>,
  options: IdempotentOptions,
): TypedPropertyDescriptor<Handler> {
  const original = descriptor.value!;
  const mark: IdempotentMark = { options, wrapper: Symbol(String(property)), original };
  const wrapper = function (this: unknown, ...args: never[]): unknown {
    currentAttempt()?.enter(mark.wrapper);
    return original.apply(this, args);
  };
  Object.defineProperty(wrapper, 'name', { value: original.name, configurable: true });
  Object.defineProperty(wrapper, 'length', { value: original.length, configurable: true });
  for (const name of Reflect.getMetadataKeys(original)) {
    Reflect.defineMetadata(name, Reflect.getMetadata(name, original), wrapper);
  }
  Reflect.defineMetadata(MARK, mark, wrapper);
  const declared = new Set([...declaredMethods(prototype.constructor as Type), property]);
  Reflect.defineMetadata(DECLARED, declared, prototype.constructor);
  return { ...descriptor, value: wrapper };
}

function decorateClass(controller: Type, options: IdempotentOptions): void {
  Reflect.defineMetadata(CLASS_LEVEL, true, controller);
  const prototype = controller.prototype as object;
  for (const [property, handler] of handlersOf(prototype)) {
    const mayChangeSomething = isMessageHandler(handler) || (isRoute(handler) && !isSafeRoute(handler));
    if (!mayChangeSomething || idempotentMark(handler)) continue;
    const descriptor = { value: handler, writable: true, configurable: true, enumerable: false };
    Object.defineProperty(prototype, property, decorateMethod(prototype, property, descriptor, options));
  }
}

/** Every method of a prototype, inherited ones included; the nearest wins. */
function handlersOf(prototype: object): Map<string, Handler> {
  const handlers = new Map<string, Handler>();
  for (let at = prototype; at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const [property, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value === 'function' && property !== 'constructor' && !handlers.has(property)) {
        handlers.set(property, value as Handler);
      }
    }
  }
  return handlers;
}
