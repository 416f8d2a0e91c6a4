import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';

import { currentAttempt } from '../attempt-context.js';
import { Handlers } from '../handlers.js';
import { idempotentMark } from '../idempotent.decorator.js';
import type { Handler } from '../route-metadata.js';
import { isPatternHandler } from './handler-metadata.js';
import { leaveUnsettled } from './rabbitmq.delivery.js';

/** The name under which Nest keeps the interceptors of a method. */
const INTERCEPTORS = '__interceptors__';

/** Stands before a handler of messages, inside the global interceptors: if ours is not among them, nothing passes. */
class MessageGate implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (currentAttempt()) return next.handle();
    // What is wrong with the application is not to be taken out on its messages.
    leaveUnsettled(context.switchToRpc().getContext<object | undefined>());
    throw new Error(
      `${context.getClass().name}.${context.getHandler().name} is @Idempotent(), and the microservice that calls it ` +
        'does not have the global interceptors of the application: the message is not handled. Connect it with ' +
        '`app.connectMicroservice(options, { inheritAppConfig: true })`.',
    );
  }
}

const GATE = new MessageGate();

/**
 * Puts a gate before every idempotent handler of messages.
 *
 * Once, when the application's providers are made: before a microservice can be connected to it.
 */
@Injectable()
export class MessageGates {
  constructor(handlers: Handlers) {
    for (const { handler } of handlers.all()) addGate(handler);
  }
}

function addGate(handler: Handler): void {
  if (!idempotentMark(handler) || !isPatternHandler(handler)) return;
  const interceptors = (Reflect.getMetadata(INTERCEPTORS, handler) ?? []) as readonly unknown[];
  if (interceptors.includes(GATE)) return;
  Reflect.defineMetadata(INTERCEPTORS, [GATE, ...interceptors], handler);
}
