import { Injectable } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';

import { Handlers } from '../handlers.js';
import { idempotentMark } from '../idempotent.decorator.js';
import { isPatternHandler } from './handler-metadata.js';
import { hasDeadLetters, isRabbitMq, type RpcServer, rpcServers } from './rpc-servers.js';

/** Looks at the microservices of the application, as they are connected to it. */
@Injectable()
export class MicroserviceCheck {
  private readonly servers: RpcServer[] = [];
  /** Those for whose handlers the application was not asked for its global interceptors. */
  private readonly foreign = new Set<RpcServer>();

  constructor(
    modules: ModulesContainer,
    config: ApplicationConfig,
    private readonly handlers: Handlers,
  ) {
    const questions = new Questions(config);
    rpcServers(modules).subscribe((server) => {
      this.servers.push(server);
      this.watch(server, questions);
    });
  }

  /** Whether some microservice has been connected without the application's global interceptors, as far as can be seen. */
  get hasForeign(): boolean {
    return this.foreign.size > 0;
  }

  get usesRabbitMq(): boolean {
    return this.rabbitServers().length > 0;
  }

  /** The queues whose options name no place for messages that are parked. */
  queuesWithoutDeadLetters(): string[] {
    return this.rabbitServers()
      .filter((server) => !hasDeadLetters(server))
      .map(nameOf);
  }

  /** Before it is delivered anything, whenever it is connected: what it is delivered would be lost if it failed. */
  private assertAcknowledges(server: RpcServer): void {
    if (!isRabbitMq(server) || server.noAck === false || !this.hasConsumers()) return;
    throw new Error(
      `@Idempotent() cannot protect messages of ${nameOf(server)}: RabbitMQ takes them for done when they are ` +
        "delivered (noAck: true, which is Nest's default). Set `noAck: false` in the options of the transport.",
    );
  }

  private hasConsumers(): boolean {
    return [...this.handlers.all()].some(({ handler }) => idempotentMark(handler) && isPatternHandler(handler));
  }

  private rabbitServers(): RpcServer[] {
    return this.servers.filter(isRabbitMq);
  }

  /**
   * A microservice that shares the application's configuration asks it for its interceptors as it adds a handler.
   *
   * For handlers in request scope that comes later: one that has no others is not told from one that does not ask.
   */
  private watch(server: RpcServer, questions: Questions): void {
    const addHandler = server.addHandler.bind(server);
    let { asked } = questions;
    let hasAsked = false;
    server.addHandler = (...args) => {
      this.assertAcknowledges(server);
      hasAsked ||= questions.asked > asked;
      ({ asked } = questions);
      if (hasAsked) this.foreign.delete(server);
      else this.foreign.add(server);
      return addHandler(...args);
    };
  }
}

/** Counts how often a configuration is asked for its global interceptors. */
class Questions {
  asked = 0;

  constructor(config: ApplicationConfig) {
    const ask = config.getGlobalInterceptors.bind(config);
    config.getGlobalInterceptors = () => {
      this.asked++;
      return ask();
    };
  }
}

function nameOf({ options }: RpcServer): string {
  return options?.queue ?? 'the default queue';
}
