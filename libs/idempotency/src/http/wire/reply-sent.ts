import type { Held } from './wire-answer.js';

const MARK: unique symbol = Symbol('nestjs-idempotency.held');

interface MarkedReply {
  [MARK]?: Held;
}

const SENT: PropertyDescriptor = {
  configurable: true,
  enumerable: true,
  get(this: MarkedReply): boolean {
    return this[MARK]?.hasEnded === true || Reflect.get(Object.getPrototypeOf(this), 'sent', this) === true;
  },
};

/** Lets Fastify's `reply.sent` tell that the answer has ended, which Fastify reads from the raw response and misses while it is held. */
export function markReplySent(reply: object, held: Held): void {
  (reply as MarkedReply)[MARK] = held;
  Object.defineProperty(reply, 'sent', SENT);
}
