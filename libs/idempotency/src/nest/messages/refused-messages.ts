import { Inject, Injectable } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { isObservable, tap } from 'rxjs';

import type { Report } from '../../core/ports.js';
import { Handlers } from '../handlers.js';
import { idempotentMark } from '../idempotent.decorator.js';
import { HOLDS, REPORT } from '../tokens.js';
import { patternsOf } from './handler-metadata.js';
import type { Holds } from './holds.js';
import { isTakenOver, type RmqContext, type Settling, settlingOf } from './rabbitmq.delivery.js';
import { hasDeadLetters, isRabbitMq, type RpcHandler, type RpcServer, rpcServers } from './rpc-servers.js';

/** The pause before a refused message is given back, in milliseconds. */
const REFUSED_RETRY_MS = 5_000;

/**
 * Settles messages of RabbitMQ that were refused before the library saw them, such as by a guard.
 *
 * The handler would have to settle them, and is not called: they would keep their places among those that are
 * prefetched until the consumer stands still. They are dead-lettered, or given back where there is no place for them.
 */
@Injectable()
export class RefusedMessages {
  constructor(
    modules: ModulesContainer,
    private readonly handlers: Handlers,
    @Inject(HOLDS) private readonly holds: Holds,
    @Inject(REPORT) private readonly report: Report,
  ) {
    rpcServers(modules).subscribe((server) => {
      if (isRabbitMq(server)) this.watch(server);
    });
  }

  private watch(server: RpcServer): void {
    const addHandler = server.addHandler.bind(server);
    server.addHandler = (pattern, handler, ...rest) =>
      addHandler(pattern, this.isOurs(pattern) ? this.watched(server, handler) : handler, ...rest);
  }

  private isOurs(pattern: unknown): boolean {
    const asText = JSON.stringify(pattern);
    return [...this.handlers.all()].some(
      ({ handler }) => idempotentMark(handler) !== undefined && patternsOf(handler).includes(asText),
    );
  }

  /** The same function but for what is done after it: the server leaves marks on it. */
  private watched(server: RpcServer, handler: RpcHandler): RpcHandler {
    return new Proxy(handler, {
      apply: (target, self, args: Parameters<RpcHandler>) =>
        this.handle(server, args.at(-1) as RmqContext, () => Reflect.apply(target, self, args)),
    });
  }

  private async handle(server: RpcServer, context: RmqContext, handle: () => Promise<unknown>): Promise<unknown> {
    const settling = settlingOf(context);
    const onError = (error: unknown): void => {
      // Who refused it, or a filter of the application's, may have settled it.
      if (!isTakenOver(context) && !settling.isDone) void this.settle(server, settling, error);
    };
    try {
      const result = await handle();
      return isObservable(result) ? result.pipe(tap({ error: onError })) : result;
    } catch (error) {
      onError(error);
      throw error;
    }
  }

  private async settle(server: RpcServer, settling: Settling, error: unknown): Promise<void> {
    this.report('A message was refused before its handler could be called.', error);
    if (hasDeadLetters(server)) return settling.deadLetter();
    await this.holds.hold(REFUSED_RETRY_MS);
    if (!this.holds.isClosing) settling.giveBack();
  }
}
