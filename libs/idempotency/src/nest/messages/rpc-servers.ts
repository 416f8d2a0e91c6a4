import type { ModulesContainer } from '@nestjs/core';
import { EMPTY, type Observable } from 'rxjs';

/** A server of @nestjs/microservices, as far as it is looked at. */
export interface RpcServer {
  readonly transportId?: unknown;
  readonly noAck?: boolean;
  readonly options?: {
    readonly queue?: string;
    readonly queueOptions?: { readonly deadLetterExchange?: unknown; readonly arguments?: Record<string, unknown> };
  };
  addHandler(pattern: unknown, handler: RpcHandler, ...rest: unknown[]): unknown;
}

/** A handler as the server calls it: with guards, interceptors, pipes and filters around it. */
export type RpcHandler = (data: unknown, context: unknown) => Promise<unknown>;

const RABBITMQ = 5;

export function isRabbitMq({ transportId }: RpcServer): boolean {
  return transportId === RABBITMQ;
}

/** Whether the options of its queue name a place for messages that are put aside. */
export function hasDeadLetters({ options }: RpcServer): boolean {
  const { deadLetterExchange, arguments: given = {} } = options?.queueOptions ?? {};
  return deadLetterExchange !== undefined || given['x-dead-letter-exchange'] !== undefined;
}

/**
 * The servers that are connected to an application, those before and those after.
 *
 * Nest 10 and the first of 11 do not tell which there are: nothing can be noticed of them there.
 */
export function rpcServers(modules: ModulesContainer): Observable<RpcServer> {
  const { getRpcTargetRegistry: registry } = modules as Partial<ModulesContainer>;
  return (registry?.call(modules) as Observable<RpcServer> | undefined) ?? EMPTY;
}
