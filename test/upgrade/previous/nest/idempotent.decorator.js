import 'reflect-metadata';
import { currentAttempt } from './attempt-context.js';
import { isMessageHandler } from './messages/handler-metadata.js';
import { isRoute, isSafeRoute } from './route-metadata.js';
const MARK = Symbol.for('nestjs-idempotency:idempotent');
const DECLARED = Symbol.for('nestjs-idempotency:declared');
const CLASS_LEVEL = Symbol.for('nestjs-idempotency:class-level');
export function Idempotent(options = {}) {
    return ((target, property, descriptor) => {
        if (property === undefined)
            return decorateClass(target, options);
        if (!descriptor)
            throw new Error('@Idempotent() goes on a class or on a method.');
        return decorateMethod(target, property, descriptor, options);
    });
}
export function idempotentMark(handler) {
    return Reflect.getMetadata(MARK, handler);
}
export function declaredMethods(controller) {
    return Reflect.getMetadata(DECLARED, controller) ?? new Set();
}
export function isDeclaredIdempotent(controller) {
    return Reflect.hasOwnMetadata(CLASS_LEVEL, controller);
}
function decorateMethod(prototype, property, descriptor, options) {
    const original = descriptor.value;
    const mark = { options, wrapper: Symbol(String(property)), original };
    const wrapper = function (...args) {
        currentAttempt()?.enter(mark.wrapper);
        return original.apply(this, args);
    };
    Object.defineProperty(wrapper, 'name', { value: original.name, configurable: true });
    Object.defineProperty(wrapper, 'length', { value: original.length, configurable: true });
    for (const name of Reflect.getMetadataKeys(original)) {
        Reflect.defineMetadata(name, Reflect.getMetadata(name, original), wrapper);
    }
    Reflect.defineMetadata(MARK, mark, wrapper);
    const declared = new Set([...declaredMethods(prototype.constructor), property]);
    Reflect.defineMetadata(DECLARED, declared, prototype.constructor);
    return { ...descriptor, value: wrapper };
}
function decorateClass(controller, options) {
    Reflect.defineMetadata(CLASS_LEVEL, true, controller);
    const prototype = controller.prototype;
    for (const [property, handler] of handlersOf(prototype)) {
        const mayChangeSomething = isMessageHandler(handler) || (isRoute(handler) && !isSafeRoute(handler));
        if (!mayChangeSomething || idempotentMark(handler))
            continue;
        const descriptor = { value: handler, writable: true, configurable: true, enumerable: false };
        Object.defineProperty(prototype, property, decorateMethod(prototype, property, descriptor, options));
    }
}
function handlersOf(prototype) {
    const handlers = new Map();
    for (let at = prototype; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
        for (const [property, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
            if (typeof value === 'function' && property !== 'constructor' && !handlers.has(property)) {
                handlers.set(property, value);
            }
        }
    }
    return handlers;
}
