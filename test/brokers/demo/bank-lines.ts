import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import amqp from 'amqplib';
import { type BrokerNames, brokerNames } from '../../../apps/payments/src/brokers/broker-names.js';
import { settlementsQueueOptions } from '../../../apps/payments/src/settlements/settlements-queue.js';
import { brokerUrl } from '../urls.js';

/** An event as a broker has it, and the id that its transport was told. */
export interface Published {
  readonly id: unknown;
  readonly event: unknown;
}

/** The lines between the bank and the demo, by both brokers, seen from where an operator looks. */
export class BankLines {
  private constructor(
    private readonly names: BrokerNames,
    private readonly rabbit: amqp.ChannelModel,
    private readonly channel: amqp.ConfirmChannel,
    private readonly nats: NatsConnection,
    private readonly manager: JetStreamManager,
  ) {}

  static async open(prefix: string): Promise<BankLines> {
    const rabbit = await amqp.connect(brokerUrl('RABBITMQ_URL'));
    const channel = await rabbit.createConfirmChannel();
    const nats = await connect({ servers: brokerUrl('NATS_URL') });
    return new BankLines(brokerNames(prefix), rabbit, channel, nats, await jetstreamManager(nats));
  }

  /** Declares what the demo does, and a queue of ours that is bound to its events: nothing is asked for in vain. */
  async declare(): Promise<void> {
    const { eventsExchange, deadLetterQueue, settlementsQueue } = this.names;
    await this.channel.assertExchange(eventsExchange, 'topic', { durable: true });
    await this.channel.assertQueue(this.subscription, { durable: true });
    await this.channel.bindQueue(this.subscription, eventsExchange, 'payment.*');
    await this.channel.assertQueue(deadLetterQueue, { durable: true });
    await this.channel.assertQueue(settlementsQueue, settlementsQueueOptions(this.names));
  }

  async sendByRabbitMq(event: unknown): Promise<void> {
    this.channel.sendToQueue(this.names.settlementsQueue, Buffer.from(JSON.stringify(event)));
    await this.channel.waitForConfirms();
  }

  /** Resolves to the message's place in the stream. */
  async sendByNats(event: unknown): Promise<number> {
    const { seq } = await jetstream(this.nats).publish(this.names.settlements.subject, JSON.stringify(event));
    return seq;
  }

  async isDeliveredByNats(seq: number): Promise<boolean> {
    const { delivered } = await this.manager.consumers.info(this.names.settlements.stream, this.names.consumer);
    return delivered.stream_seq >= seq;
  }

  /** How many messages wait at RabbitMQ, those left out that are delivered and not settled. */
  async waitingAtRabbitMq(): Promise<number> {
    return (await this.channel.checkQueue(this.names.settlementsQueue)).messageCount;
  }

  /** How many messages are not settled at NATS, in whatever state they are. */
  async unsettledAtNats(): Promise<number> {
    return (await this.manager.streams.info(this.names.settlements.stream)).state.messages;
  }

  async deadLetters(): Promise<{ readonly rabbitmq: number; readonly nats: number }> {
    const [{ messageCount }, { state }] = await Promise.all([
      this.channel.checkQueue(this.names.deadLetterQueue),
      this.manager.streams.info(this.names.deadLetters.stream),
    ]);
    return { rabbitmq: messageCount, nats: state.messages };
  }

  async dropDeadLetters(): Promise<void> {
    await this.channel.purgeQueue(this.names.deadLetterQueue);
    await this.manager.streams.purge(this.names.deadLetters.stream);
  }

  /** Every event of the demo's that RabbitMQ has taken since we subscribed; they are taken from there. */
  async eventsAtRabbitMq(): Promise<Published[]> {
    const events: Published[] = [];
    for (;;) {
      const message = await this.channel.get(this.subscription, { noAck: true });
      if (!message) return events;
      events.push({ id: message.properties.messageId, event: JSON.parse(message.content.toString()) as unknown });
    }
  }

  /** Every event of the demo's that NATS has. */
  async eventsAtNats(): Promise<Published[]> {
    const { stream } = this.names.events;
    const { state } = await this.manager.streams.info(stream);
    const events: Published[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await this.manager.streams.getMessage(stream, { seq });
      if (message) events.push({ id: message.header.get('Nats-Msg-Id'), event: message.json() });
    }
    return events;
  }

  /** Removes everything under the prefix from both brokers. */
  async remove(): Promise<void> {
    const { names } = this;
    for (const queue of [names.settlementsQueue, names.deadLetterQueue, this.subscription]) {
      await this.channel.deleteQueue(queue);
    }
    for (const exchange of [names.eventsExchange, names.deadLetterExchange])
      await this.channel.deleteExchange(exchange);
    for (const { stream } of [names.settlements, names.deadLetters, names.events]) {
      await this.manager.streams.delete(stream);
    }
    await this.rabbit.close();
    await this.nats.close();
  }

  private get subscription(): string {
    return `${this.names.eventsExchange}.subscriber`;
  }
}
