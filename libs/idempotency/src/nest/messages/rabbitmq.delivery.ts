import { EMPTY, NEVER, type Observable } from 'rxjs';

import { IdempotencyError, workBroken } from '../../core/errors.js';
import type { Envelope } from '../../messaging/envelope.js';
import type { Settlement } from '../../messaging/settlement.js';
import { type Delivery, PARK_RETRY_MS, type SettlingTerms } from './delivery.js';
import type { Holds } from './holds.js';
import { replyError, replyOf } from './replies.js';

/** A message of amqplib's, as far as it is looked at. */
export interface AmqpMessage {
  readonly properties: {
    readonly messageId?: string | undefined;
    readonly replyTo?: string | undefined;
    readonly headers?: Readonly<Record<string, unknown>> | undefined;
  };
}

/** A channel of amqplib's, as far as it is used. */
interface AmqpChannel {
  ack(message: AmqpMessage): void;
  nack(message: AmqpMessage, allUpTo: boolean, requeue: boolean): void;
}

/** The context of a handler on Nest's own RabbitMQ transport: message, channel, pattern. */
export interface RmqContext {
  getArgs(): [AmqpMessage, AmqpChannel, ...unknown[]];
  getMessage(): AmqpMessage;
  getChannelRef(): AmqpChannel;
}

export function amqpEnvelope({ properties }: AmqpMessage, payload: unknown): Envelope {
  const { messageId, headers } = properties;
  return { payload, ...(headers && { headers }), ...(messageId !== undefined && { messageId }) };
}

/** The messages that are for the library to settle, or for nobody. */
const TAKEN_OVER = new WeakSet<AmqpMessage>();

/** Has nobody settle a delivery, if it is one of RabbitMQ's: it is given back when its connection closes. */
export function leaveUnsettled(context: object | undefined): void {
  if (context && 'getChannelRef' in context) TAKEN_OVER.add((context as RmqContext).getMessage());
}

/** Whether the library has seen this delivery. */
export function isTakenOver(context: RmqContext): boolean {
  return TAKEN_OVER.has(context.getMessage());
}

/** What others do with one delivery before the library sees it. */
export interface Settling {
  /** Somebody has acknowledged it, or given it back. */
  readonly isDone: boolean;
  deadLetter(): void;
  giveBack(): void;
}

/** Watches who settles a delivery. */
export function settlingOf(context: RmqContext): Settling {
  const message = context.getMessage();
  const channel = context.getChannelRef();
  let isDone = false;
  context.getArgs()[1] = withSettling(channel, (settle) => {
    isDone = true;
    return settle();
  });
  return {
    get isDone() {
      return isDone;
    },
    deadLetter: () => channel.nack(message, false, false),
    giveBack: () => channel.nack(message, false, true),
  };
}

/** A delivery by Nest's own RabbitMQ transport, with `noAck: false`. */
export function rabbitMqDelivery(context: RmqContext, payload: unknown, isEvent: boolean): Delivery {
  const message = context.getMessage();
  const channel = context.getChannelRef();
  // An event may say where to reply to, but nobody does: who sent it would not learn that it failed.
  const isRequest = !isEvent && Boolean(message.properties.replyTo);
  return {
    envelope: amqpEnvelope(message, payload),
    takeOver: () => {
      TAKEN_OVER.add(message);
      context.getArgs()[1] = withoutSettling(channel);
    },
    settle: async (settlement, terms) => {
      switch (settlement.kind) {
        case 'acknowledge':
          channel.ack(message);
          return isRequest ? replyOf(settlement) : EMPTY;
        case 'retry':
          return giveBack(settlement, terms);
        case 'park':
          return putAside(settlement.error, terms);
      }
    },
  };

  async function giveBack({ afterMs, error }: Settlement & { kind: 'retry' }, { holds }: SettlingTerms) {
    const isElsewhere = error instanceof IdempotencyError && error.code === 'idempotency-request-in-progress';
    if (isRequest && !isElsewhere) {
      // The requester is told that it has failed, and sends it again.
      channel.ack(message);
      throw await replyError(error);
    }
    return deliverAgain(afterMs, holds);
  }

  async function deliverAgain(afterMs: number, holds: Holds): Promise<Observable<unknown>> {
    await holds.hold(afterMs);
    // A channel that is being closed gives everything back by itself.
    if (!holds.isClosing) channel.nack(message, false, true);
    // A reply that is empty would be one: the redelivery replies.
    return isRequest ? NEVER : EMPTY;
  }

  async function putAside(error: unknown, { holds, park }: SettlingTerms): Promise<Observable<unknown>> {
    if (!park) channel.nack(message, false, false);
    else if (await park()) channel.ack(message);
    else return deliverAgain(PARK_RETRY_MS, holds);
    if (isRequest) throw await replyError(error);
    return EMPTY;
  }
}

const SETTLING = new Set<PropertyKey>(['ack', 'ackAll', 'nack', 'nackAll', 'reject']);

/** The channel as the handler sees it: it must not say that a message is done before its effect is committed. */
function withoutSettling(channel: AmqpChannel): AmqpChannel {
  return withSettling(channel, refuseToSettle);
}

/** The channel with another way of settling messages, which is given the usual one. */
function withSettling(channel: AmqpChannel, settle: (usual: () => unknown) => unknown): AmqpChannel {
  return new Proxy(channel, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...args: unknown[]) => unknown;
      return SETTLING.has(name) ? (...args: unknown[]) => settle(() => call(...args)) : call;
    },
  });
}

function refuseToSettle(): never {
  throw workBroken(
    'An idempotent handler settled its message itself. The library does that when the effect is committed, or has ' +
      'failed: remove the call.',
  );
}
