import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { type AmqpConnectionManager, type ChannelWrapper, connect } from 'amqp-connection-manager';
import type { Channel } from 'amqplib';
import { BrokerOutage } from './broker-outage.js';
import type { BrokerNames } from './broker-names.js';
import { type CloudEvent, CONTENT_TYPE } from './cloud-event.js';

/** How often a broker that is away is tried, in seconds. */
const RECONNECT_SECONDS = 1;

/** How long the broker may take to confirm that it has an event, in milliseconds. */
const CONFIRM_MS = 5_000;

/** RabbitMQ, connected again whenever it was away. */
export class RabbitMq implements OnApplicationBootstrap, OnApplicationShutdown {
  /** Resolves once all that we need is declared at the broker; not while it has never been there. */
  readonly declared: Promise<void>;
  private isDeclared!: () => void;
  private readonly outage: BrokerOutage;
  private readonly logger = new Logger('RabbitMQ');
  private connection: AmqpConnectionManager | undefined;
  private channel: ChannelWrapper | undefined;

  constructor(
    readonly url: string,
    readonly names: BrokerNames,
  ) {
    this.outage = new BrokerOutage(this.logger, url);
    this.declared = new Promise((resolve) => (this.isDeclared = resolve));
  }

  onApplicationBootstrap(): void {
    this.connection = connect([this.url], { reconnectTimeInSeconds: RECONNECT_SECONDS });
    this.connection.on('connectFailed', ({ err }) => this.outage.begins(err));
    this.connection.on('disconnect', ({ err }) => this.outage.begins(err));
    this.connection.on('connect', () => this.outage.ends());
    this.channel = this.connection.createChannel({
      setup: (channel: Channel) => this.declare(channel),
      publishTimeout: CONFIRM_MS,
    });
    this.channel.on('error', (error: Error) => this.logger.error(error.message));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connection?.close();
  }

  /** Resolves when the broker has confirmed that it has the event; rejects at once while it is away. */
  async publish(event: CloudEvent): Promise<void> {
    if (!this.channel || !this.connection?.isConnected()) throw new Error('RabbitMQ is away.');
    await this.channel.publish(this.names.eventsExchange, event.type, Buffer.from(JSON.stringify(event)), {
      messageId: event.id,
      contentType: CONTENT_TYPE,
      persistent: true,
    });
  }

  /** The queue of settlements itself is declared by its consumer; by then there is a place for its dead letters. */
  private async declare(channel: Channel): Promise<void> {
    const { eventsExchange, deadLetterExchange, deadLetterQueue } = this.names;
    await channel.assertExchange(eventsExchange, 'topic', { durable: true });
    await channel.assertExchange(deadLetterExchange, 'fanout', { durable: true });
    await channel.assertQueue(deadLetterQueue, { durable: true });
    await channel.bindQueue(deadLetterQueue, deadLetterExchange, '');
    this.isDeclared();
  }
}
