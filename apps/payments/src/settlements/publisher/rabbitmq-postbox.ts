import amqp from 'amqplib';
import type { BrokerNames } from '../../brokers/broker-names.js';
import { CONTENT_TYPE } from '../../brokers/cloud-event.js';
import type { SettlementEvent } from '../settlement-event.js';
import { settlementsQueueOptions } from '../settlements-queue.js';
import type { Postbox } from './postbox.js';

export class RabbitMqPostbox implements Postbox {
  private constructor(
    private readonly connection: amqp.ChannelModel,
    private readonly channel: amqp.ConfirmChannel,
    private readonly names: BrokerNames,
  ) {}

  static async open(url: string, names: BrokerNames): Promise<RabbitMqPostbox> {
    const connection = await amqp.connect(url);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue(names.settlementsQueue, settlementsQueueOptions(names));
    return new RabbitMqPostbox(connection, channel, names);
  }

  async send(events: readonly SettlementEvent[]): Promise<void> {
    for (const event of events) {
      this.channel.sendToQueue(this.names.settlementsQueue, Buffer.from(JSON.stringify(event)), {
        contentType: CONTENT_TYPE,
        persistent: true,
      });
    }
    await this.channel.waitForConfirms();
  }

  /** Each is taken from there when it is certainly here again: a crash in between sends it twice. */
  async replayDeadLetters(): Promise<number> {
    const { deadLetterQueue, settlementsQueue } = this.names;
    const { messageCount } = await this.channel.assertQueue(deadLetterQueue, { durable: true });
    let replayed = 0;
    while (replayed < messageCount) {
      const message = await this.channel.get(deadLetterQueue);
      if (!message) break;
      const asItWas = message.properties as amqp.Options.Publish;
      this.channel.sendToQueue(settlementsQueue, message.content, { ...asItWas, persistent: true });
      await this.channel.waitForConfirms();
      this.channel.ack(message);
      replayed++;
    }
    return replayed;
  }

  async close(): Promise<void> {
    await this.channel.close();
    await this.connection.close();
  }
}
