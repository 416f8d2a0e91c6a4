import { jetstream, jetstreamManager, type StoredMsg } from '@nats-io/jetstream';
import { connect, headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import type { BrokerNames } from '../../brokers/broker-names.js';
import type { SettlementEvent } from '../settlement-event.js';
import { PARK_REASON } from '../settlements-endpoint.js';
import type { Postbox } from './postbox.js';

/** How many events are on their way to the server at the same time. */
const SENT_TOGETHER = 500;

/** The streams are the demo's: it has to have been there once. */
export class NatsPostbox implements Postbox {
  private constructor(
    private readonly connection: NatsConnection,
    private readonly names: BrokerNames,
  ) {}

  static async open(url: string, names: BrokerNames): Promise<NatsPostbox> {
    return new NatsPostbox(await connect({ servers: url }), names);
  }

  async send(events: readonly SettlementEvent[]): Promise<void> {
    const client = jetstream(this.connection);
    for (let from = 0; from < events.length; from += SENT_TOGETHER) {
      const together = events.slice(from, from + SENT_TOGETHER);
      await Promise.all(together.map((event) => client.publish(this.names.settlements.subject, JSON.stringify(event))));
    }
  }

  /** Each is taken from there when it is certainly here again: a crash in between sends it twice. */
  async replayDeadLetters(): Promise<number> {
    const { deadLetters, settlements } = this.names;
    const client = jetstream(this.connection);
    const { streams } = await jetstreamManager(this.connection);
    const { state } = await streams.info(deadLetters.stream);
    let replayed = 0;
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message: StoredMsg | null = await streams.getMessage(deadLetters.stream, { seq });
      if (!message) continue;
      await client.publish(settlements.subject, message.data, { headers: asItWas(message) });
      await streams.deleteMessage(deadLetters.stream, seq);
      replayed++;
    }
    return replayed;
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}

/** Without what was written on it when it was put aside. */
function asItWas({ header }: StoredMsg): MsgHdrs {
  const kept = headers();
  for (const name of header?.keys() ?? []) {
    if (name !== PARK_REASON && name !== 'Nats-Msg-Id') kept.set(name, header.get(name));
  }
  return kept;
}
