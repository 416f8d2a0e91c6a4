import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { connect, headers, type MsgHdrs, nanos, type NatsConnection } from '@nats-io/transport-node';

import type { Broker, JetStreamPlace, Message } from '../broker.js';
import type { Booking } from '../consumers/bookings.js';
import { brokerUrl } from '../urls.js';

/** How many messages are on their way to the server at the same time. */
const SENT_TOGETHER = 500;

export class JetStreamBroker implements Broker {
  /** By their place in the stream. */
  private readonly sent = new Map<number, string>();

  private constructor(
    readonly place: JetStreamPlace,
    private readonly nats: NatsConnection,
    private readonly client: JetStreamClient,
    private readonly manager: JetStreamManager,
  ) {}

  /** `redeliverMs`: after this time without a sign of life from its consumer a message is delivered again. */
  static async open(name: string, redeliverMs: number): Promise<JetStreamBroker> {
    const url = brokerUrl('NATS_URL');
    const nats = await connect({ servers: url });
    const manager = await jetstreamManager(nats);
    const place: JetStreamPlace = {
      transport: 'jetstream',
      url,
      stream: name,
      consumer: 'bookings',
      deadLetters: `${name}_dead.bookings`,
      ackWaitMs: redeliverMs,
    };
    await manager.streams.add({ name, subjects: [`${name}.>`], retention: 'workqueue', storage: 'memory' });
    await manager.streams.add({ name: `${name}_dead`, subjects: [`${name}_dead.>`], storage: 'memory' });
    await manager.consumers.add(name, {
      durable_name: place.consumer,
      ack_policy: 'explicit',
      ack_wait: nanos(redeliverMs),
    });
    return new JetStreamBroker(place, nats, jetstream(nats), manager);
  }

  async send(messages: readonly Message[]): Promise<void> {
    const { stream } = this.place;
    for (let first = 0; first < messages.length; first += SENT_TOGETHER) {
      await Promise.all(
        messages.slice(first, first + SENT_TOGETHER).map(async ({ id, booking }) => {
          const { seq } = await this.client.publish(`${stream}.bookings`, JSON.stringify(booking), {
            headers: headersWith(id),
          });
          this.sent.set(seq, booking.reference);
        }),
      );
    }
  }

  /** What is settled is not in the stream any more: it is a work queue. */
  async unsettled(): Promise<number> {
    const { state } = await this.manager.streams.info(this.place.stream);
    return state.messages;
  }

  async acknowledged(): Promise<string[]> {
    const { state } = await this.manager.streams.info(this.place.stream, { deleted_details: true });
    const between = new Set(state.deleted);
    return [...this.sent]
      .filter(([seq]) => seq < state.first_seq || between.has(seq))
      .map(([, reference]) => reference);
  }

  async deadLetters(): Promise<string[]> {
    const stream = `${this.place.stream}_dead`;
    const { state } = await this.manager.streams.info(stream);
    const references: string[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await this.manager.streams.getMessage(stream, { seq });
      if (message) references.push(message.json<Booking>().reference);
    }
    return references.sort();
  }

  /** It was told to deliver as often as it takes. */
  attemptsUsed(): Promise<number> {
    return Promise.resolve(0);
  }

  async remove(): Promise<void> {
    await this.manager.streams.delete(this.place.stream);
    await this.manager.streams.delete(`${this.place.stream}_dead`);
    await this.nats.close();
  }
}

/** As the NATS binding of CloudEvents has it. By `Nats-Msg-Id` the server itself would drop some of the duplicates. */
function headersWith(id: string | undefined): MsgHdrs {
  const given = headers();
  if (id === undefined) return given;
  given.set('ce-source', 'orders');
  given.set('ce-id', id);
  return given;
}
