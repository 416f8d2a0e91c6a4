import { type Channel, type ChannelModel, connect } from 'amqplib';

import type { Broker, Message, RabbitPlace } from '../broker.js';
import type { Booking } from '../consumers/bookings.js';
import { brokerUrl } from '../urls.js';
import { AmqpProxy } from './amqp-proxy.js';

export class RabbitBroker implements Broker {
  private sent = 0;

  private constructor(
    readonly place: RabbitPlace,
    private readonly proxy: AmqpProxy,
    private readonly connection: ChannelModel,
    private readonly channel: Channel,
  ) {}

  static async open(transport: RabbitPlace['transport'], name: string): Promise<RabbitBroker> {
    const url = brokerUrl('RABBITMQ_URL');
    const proxy = await AmqpProxy.before(url);
    const place: RabbitPlace = { transport, url: proxy.url, queue: name, deadLetters: `${name}_dead` };
    const connection = await connect(url);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue(place.deadLetters, { durable: true });
    await channel.assertQueue(name, {
      durable: true,
      deadLetterExchange: '',
      deadLetterRoutingKey: place.deadLetters,
    });
    return new RabbitBroker(place, proxy, connection, channel);
  }

  async send(messages: readonly Message[]): Promise<void> {
    for (const { id, booking } of messages) {
      // As Nest's clients write it, for Nest's transport.
      const content = this.place.transport === 'rabbitmq' ? { pattern: 'booking', data: booking } : booking;
      const body = Buffer.from(JSON.stringify(content));
      this.channel.sendToQueue(this.place.queue, body, id === undefined ? {} : { messageId: id });
      this.sent++;
    }
    await (this.channel as Channel & { waitForConfirms(): Promise<void> }).waitForConfirms();
  }

  /** Those that are ready, and those that consumers have; once there are no consumers, all are ready. */
  async unsettled(): Promise<number> {
    const { messageCount } = await this.channel.checkQueue(this.place.queue);
    return Math.max(messageCount, this.sent - this.proxy.acknowledged.length - this.proxy.refused);
  }

  acknowledged(): Promise<string[]> {
    return Promise.resolve(this.proxy.acknowledged.map(referenceIn));
  }

  async deadLetters(): Promise<string[]> {
    const references: string[] = [];
    for (;;) {
      const message = await this.channel.get(this.place.deadLetters);
      if (!message) break;
      references.push(referenceIn(message.content));
    }
    this.channel.nackAll(true);
    return references.sort();
  }

  /** It delivers as often as it takes. */
  attemptsUsed(): Promise<number> {
    return Promise.resolve(0);
  }

  async remove(): Promise<void> {
    await this.channel.deleteQueue(this.place.queue);
    await this.channel.deleteQueue(this.place.deadLetters);
    await this.connection.close();
    await this.proxy.close();
  }
}

function referenceIn(body: Buffer): string {
  const content = JSON.parse(body.toString()) as Booking | { readonly data: Booking };
  return ('data' in content ? content.data : content).reference;
}
