import { Inject, Injectable } from '@nestjs/common';
import type { CloudEvent } from '../brokers/cloud-event.js';
import { Nats } from '../brokers/nats.js';
import { RabbitMq } from '../brokers/rabbitmq.js';

/** Publishes what lies in the outbox, to each broker there is. */
@Injectable()
export class EventPublisher {
  private readonly brokers: readonly (RabbitMq | Nats)[];

  constructor(@Inject(RabbitMq) rabbitMq: RabbitMq | null, @Inject(Nats) nats: Nats | null) {
    this.brokers = [rabbitMq, nats].filter((broker) => broker !== null);
  }

  /** Without a broker events stay where they are, until there is one. */
  get hasBroker(): boolean {
    return this.brokers.length > 0;
  }

  /** Resolves when every broker has confirmed that it has the event. If one has not, all are given it again. */
  async publish(event: CloudEvent): Promise<void> {
    await Promise.all(this.brokers.map((broker) => broker.publish(event)));
  }
}
