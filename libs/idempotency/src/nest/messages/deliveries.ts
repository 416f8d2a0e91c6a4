import type { ExecutionContext } from '@nestjs/common';

import type { Envelope } from '../../messaging/envelope.js';
import type { Handler } from '../route-metadata.js';
import type { Delivery } from './delivery.js';
import { golevelupDelivery } from './golevelup.delivery.js';
import { isEventHandler } from './handler-metadata.js';
import { type KafkaContext, kafkaDelivery } from './kafka.delivery.js';
import { type AmqpMessage, rabbitMqDelivery, type RmqContext } from './rabbitmq.delivery.js';
import { unacknowledgedDelivery } from './unacknowledged.delivery.js';

/** The headers of NATS, as far as they are read. */
interface NatsHeaders {
  keys(): string[];
  get(name: string): string;
}

/** The contexts of Nest's transports are told apart by what they offer: there may be several copies of their classes. */
interface TransportContext {
  readonly getChannelRef?: unknown;
  readonly getConsumer?: unknown;
  getSubject?(): string;
  getHeaders?(): NatsHeaders | undefined;
  getPacket?(): { readonly properties?: { readonly userProperties?: Readonly<Record<string, unknown>> } };
  /** Redis and TCP. */
  getMetadata?(): unknown;
}

/** The delivery that a handler of messages is called for. */
export function deliveryTo(context: ExecutionContext): Delivery {
  if (context.getType<string>() === 'rmq') {
    const [payload, message] = context.getArgs<[unknown, AmqpMessage]>();
    return golevelupDelivery(message, payload);
  }
  const rpc = context.switchToRpc();
  const payload: unknown = rpc.getData();
  const transport = rpc.getContext<TransportContext | undefined>() ?? {};
  if (transport.getChannelRef) {
    return rabbitMqDelivery(transport as RmqContext, payload, isEventHandler(context.getHandler() as Handler));
  }
  if (transport.getConsumer) return kafkaDelivery(transport as unknown as KafkaContext, payload);
  return unacknowledgedDelivery(envelopeOf(transport, payload));
}

function envelopeOf(transport: TransportContext, payload: unknown): Envelope {
  const headers = headersOf(transport);
  return headers ? { payload, headers } : { payload };
}

function headersOf(transport: TransportContext): Readonly<Record<string, unknown>> | undefined {
  if (transport.getSubject) {
    const headers = transport.getHeaders?.();
    return headers && Object.fromEntries(headers.keys().map((name) => [name, headers.get(name)]));
  }
  if (transport.getPacket) return transport.getPacket().properties?.userProperties;
  const metadata = transport.getMetadata?.();
  return typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : undefined;
}
