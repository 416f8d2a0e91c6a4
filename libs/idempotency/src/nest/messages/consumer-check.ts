import { Inject, Injectable, type Type } from '@nestjs/common';
import ms from 'ms';

import type { Endpoints } from '../endpoints.js';
import { type FoundHandler, Handlers } from '../handlers.js';
import { type IdempotentMark, idempotentMark } from '../idempotent.decorator.js';
import type { IdempotencyModuleOptions, IdempotentOptions } from '../options.js';
import { type Handler, isRoute } from '../route-metadata.js';
import type { ModuleSettings } from '../settings.js';
import { OPTIONS, SETTINGS } from '../tokens.js';
import {
  isBatchHandler,
  isEventHandler,
  isMessageHandler,
  isPatternHandler,
  isRabbitHandler,
  patternsOf,
} from './handler-metadata.js';
import { MicroserviceCheck } from './microservice-check.js';

/** Looks at the consumers of messages, and at what delivers to them, when the application starts. */
@Injectable()
export class ConsumerCheck {
  constructor(
    private readonly handlers: Handlers,
    private readonly microservices: MicroserviceCheck,
    @Inject(OPTIONS) private readonly options: IdempotencyModuleOptions,
    @Inject(SETTINGS) private readonly settings: ModuleSettings,
  ) {}

  /** What cannot be protected, and the remedy for each. */
  *defects(): Generator<string> {
    yield* this.namesakes();
    if (!this.microservices.usesRabbitMq) return;
    for (const { owner, name, handler } of this.consumers()) {
      if (!isEventHandler(handler) || !patternsOf(handler).some((pattern) => this.subscribers(pattern) > 1)) continue;
      yield (
        `${owner.name}.${name}: another handler has the same pattern, and one delivery of RabbitMQ cannot be ` +
        'acknowledged by two. Give each a queue of its own'
      );
    }
  }

  /** Consumers that bear one name by accident: what the one has handled would count as handled by the other. */
  private *namesakes(): Generator<string> {
    const owners = new Map<string, Type>();
    for (const { owner, name, handler } of this.consumers()) {
      if (idempotentMark(handler)!.options.endpoint !== undefined) continue;
      const consumer = `${owner.name}.${name}`;
      const other = owners.get(consumer);
      owners.set(consumer, owner);
      if (other === undefined || other === owner) continue;
      yield `${consumer}: there are two consumers of this name, and they would be taken for one. Give each an \`endpoint\``;
    }
  }

  /** What may lose or repeat messages, as far as can be seen from here. */
  *warnings(endpoints: Endpoints): Generator<string> {
    const consumers = this.consumers();
    yield* this.warningsOnMicroservices(consumers.filter(({ handler }) => isPatternHandler(handler)));
    const { redeliveryHorizonMs = 0 } = this.settings;
    for (const { owner, name, handler } of consumers) {
      const { retentionMs, tombstoneMs } = endpoints.of(owner, handler, idempotentMark(handler)!);
      const recognisedMs = retentionMs + tombstoneMs;
      if (recognisedMs >= redeliveryHorizonMs) continue;
      yield (
        `${owner.name}.${name} recognises a message for ${ms(recognisedMs)}, and messages may come again ` +
        `${ms(redeliveryHorizonMs)} later: such a message is handled twice. Make \`messages.retention\` longer`
      );
    }
  }

  private *warningsOnMicroservices(consumers: readonly FoundHandler[]): Generator<string> {
    if (consumers.some(({ isStatic }) => isStatic) && this.microservices.hasForeign) {
      yield (
        'A microservice was connected without the global interceptors of the application: its messages for ' +
        '@Idempotent() handlers will be refused. Connect it with ' +
        '`app.connectMicroservice(options, { inheritAppConfig: true })`'
      );
    }
    if (consumers.length === 0 || this.options.messages?.park) return;
    for (const queue of this.microservices.queuesWithoutDeadLetters()) {
      yield (
        `The options of ${queue} name no dead-letter exchange: unless a policy of the broker does, messages that ` +
        'cannot be handled are dropped. Set `deadLetterExchange`, or `messages.park`'
      );
    }
  }

  private consumers(): FoundHandler[] {
    return [...this.handlers.all()].filter(({ handler }) => idempotentMark(handler) && isMessageHandler(handler));
  }

  private subscribers(pattern: string): number {
    return [...this.handlers.all()].filter(
      ({ handler }) => isEventHandler(handler) && patternsOf(handler).includes(pattern),
    ).length;
  }
}

/** Options that say something about requests and their answers. */
const OF_HTTP = [
  'required',
  'replayHeaders',
  'errors',
  'lateAnswer',
  'authorizeReplay',
] as const satisfies readonly (keyof IdempotentOptions)[];

/** What is wrong with one consumer. */
export function consumerDefect(
  handler: Handler,
  isController: boolean,
  { options }: IdempotentMark,
): string | undefined {
  if (isRoute(handler)) return 'is an HTTP route and a handler of messages as well. Make two methods of it';
  if (!isController && !isRabbitHandler(handler)) return 'is a handler of messages outside a controller. Move it there';
  if (isBatchHandler(handler)) {
    return 'is handed several messages at once. Leave @Idempotent() away, and call IdempotencyService.consumeAll() in it';
  }
  const foreign = OF_HTTP.filter((name) => options[name] !== undefined);
  if (foreign.length > 0) return `handles messages, and has options for HTTP: ${foreign.join(', ')}. Remove them`;
  if (options.fingerprint !== undefined && typeof options.fingerprint !== 'function') {
    return 'handles messages, whose `fingerprint` can only be a function of the context';
  }
  return undefined;
}
