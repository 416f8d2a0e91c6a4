import { RequestMethod } from '@nestjs/common';
const PATH = 'path';
const METHOD = 'method';
const SSE = '__sse__';
const HEADERS = '__headers__';
const ROUTE_ARGUMENTS = '__routeArguments__';
const PASSTHROUGH = '__responsePassthrough__';
const VERSION = '__version__';
const HOST = 'host';
const REDIRECT = '__redirect__';
const RENDER = '__renderTemplate__';
const RESPONSE_ARGUMENT = 1;
const NEXT_ARGUMENT = 2;
export function isRoute(handler) {
    return Reflect.hasMetadata(PATH, handler);
}
export function isSse(handler) {
    return Reflect.hasMetadata(SSE, handler);
}
const SAFE_METHODS = new Set([RequestMethod.GET, RequestMethod.HEAD, RequestMethod.OPTIONS]);
export function isSafeRoute(handler) {
    return SAFE_METHODS.has(Reflect.getMetadata(METHOD, handler));
}
export function writesOwnResponse(controller, method) {
    return (hasArgument(controller, method, RESPONSE_ARGUMENT) && Reflect.getMetadata(PASSTHROUGH, controller, method) !== true);
}
export function takesNext(controller, method) {
    return hasArgument(controller, method, NEXT_ARGUMENT);
}
export function answersOtherwise(handler) {
    return Reflect.hasMetadata(REDIRECT, handler) || Reflect.hasMetadata(RENDER, handler);
}
export function declaredHeaders(handler) {
    const declared = (Reflect.getMetadata(HEADERS, handler) ?? []);
    return declared.map(({ name }) => name.toLowerCase());
}
export function routeVariant(controller, handler) {
    const version = (Reflect.getMetadata(VERSION, handler) ?? Reflect.getMetadata(VERSION, controller));
    const host = Reflect.getMetadata(HOST, controller);
    return [version, host]
        .flat()
        .filter((part) => part !== undefined)
        .map((part) => ` @${String(part)}`)
        .join('');
}
export function platformOf(adapter) {
    const type = adapter.getType?.();
    if (type === 'express' || type === 'fastify')
        return type;
    throw new Error(`nestjs-idempotency works on Express and on Fastify, not on the HTTP platform '${type}'.`);
}
function hasArgument(controller, method, argument) {
    const declared = (Reflect.getMetadata(ROUTE_ARGUMENTS, controller, method) ?? {});
    return Object.keys(declared).some((name) => name.startsWith(`${argument}:`));
}
