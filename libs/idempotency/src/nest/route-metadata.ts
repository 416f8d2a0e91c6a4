import { type HttpServer, RequestMethod, type Type } from '@nestjs/common';

/*
 * The names under which Nest keeps what its decorators say. They are the same in Nest 10, 11 and 12.
 */
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

/** A controller's method. */
export type Handler = (...args: never[]) => unknown;

export function isRoute(handler: Handler): boolean {
  return Reflect.hasMetadata(PATH, handler);
}

export function isSse(handler: Handler): boolean {
  return Reflect.hasMetadata(SSE, handler);
}

const SAFE_METHODS = new Set([RequestMethod.GET, RequestMethod.HEAD, RequestMethod.OPTIONS]);

/** Whether the route answers only methods that change nothing (RFC 9110, section 9.2.1). */
export function isSafeRoute(handler: Handler): boolean {
  return SAFE_METHODS.has(Reflect.getMetadata(METHOD, handler) as RequestMethod);
}

/** Whether the handler writes its own response: it asked for `@Res()`, without passthrough. */
export function writesOwnResponse(controller: Type, method: string): boolean {
  return (
    hasArgument(controller, method, RESPONSE_ARGUMENT) && Reflect.getMetadata(PASSTHROUGH, controller, method) !== true
  );
}

/** Whether the handler asked for `@Next()`, and so may leave the answer to someone else. */
export function takesNext(controller: Type, method: string): boolean {
  return hasArgument(controller, method, NEXT_ARGUMENT);
}

/** Whether the answer is something else than the value that the handler returns: a redirect, or a view. */
export function answersOtherwise(handler: Handler): boolean {
  return Reflect.hasMetadata(REDIRECT, handler) || Reflect.hasMetadata(RENDER, handler);
}

/** The lower-case names that the route declares with `@Header()`. */
export function declaredHeaders(handler: Handler): string[] {
  const declared = (Reflect.getMetadata(HEADERS, handler) ?? []) as readonly { readonly name: string }[];
  return declared.map(({ name }) => name.toLowerCase());
}

type Variant = string | symbol | RegExp | undefined;
type Variants = Variant | Variant[];

/** What tells routes of one path apart: their version and their host, where they say any; empty where they do not. */
export function routeVariant(controller: Type, handler: Handler): string {
  const version = (Reflect.getMetadata(VERSION, handler) ?? Reflect.getMetadata(VERSION, controller)) as Variants;
  const host = Reflect.getMetadata(HOST, controller) as Variants;
  return [version, host]
    .flat()
    .filter((part) => part !== undefined)
    .map((part) => ` @${String(part)}`)
    .join('');
}

export type Platform = 'express' | 'fastify';

export function platformOf(adapter: HttpServer): Platform {
  const type = adapter.getType?.();
  if (type === 'express' || type === 'fastify') return type;
  throw new Error(`nestjs-idempotency works on Express and on Fastify, not on the HTTP platform '${type}'.`);
}

function hasArgument(controller: Type, method: string, argument: number): boolean {
  const declared = (Reflect.getMetadata(ROUTE_ARGUMENTS, controller, method) ?? {}) as Record<string, unknown>;
  return Object.keys(declared).some((name) => name.startsWith(`${argument}:`));
}
