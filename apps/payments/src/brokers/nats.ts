import { setTimeout } from 'node:timers/promises';
import { jetstream, type JetStreamClient, jetstreamManager } from '@nats-io/jetstream';
import { connect, nanos, type NatsConnection } from '@nats-io/transport-node';
import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { BrokerOutage } from './broker-outage.js';
import type { BrokerNames } from './broker-names.js';
import type { CloudEvent } from './cloud-event.js';

/** How often a broker that is away is tried, in milliseconds. */
const RECONNECT_MS = 1_000;

/** After this time without a sign of life from its consumer a message is delivered again, in milliseconds. */
export const ACK_WAIT_MS = 30_000;

/** JetStream of NATS, connected again whenever it was away. */
export class Nats implements OnApplicationBootstrap, OnApplicationShutdown {
  /** Resolves once all that we need is declared at the broker; not while it has never been there. */
  readonly declared: Promise<JetStreamClient>;
  private isDeclared!: (client: JetStreamClient) => void;
  private readonly stopping = new AbortController();
  private readonly outage: BrokerOutage;
  private connection: NatsConnection | undefined;
  private isConnected = false;
  private opened: Promise<void> | undefined;

  constructor(
    readonly url: string,
    readonly names: BrokerNames,
  ) {
    this.outage = new BrokerOutage(new Logger('NATS'), url);
    this.declared = new Promise((resolve) => (this.isDeclared = resolve));
  }

  onApplicationBootstrap(): void {
    this.opened = this.open();
  }

  /** What was acknowledged last is on its way before the connection ends. */
  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.opened;
    if (this.isConnected) await this.connection?.drain();
    else await this.connection?.close();
  }

  /** Resolves when the server has confirmed that it has the event; rejects at once while it is away. */
  async publish(event: CloudEvent): Promise<void> {
    if (!this.connection || !this.isConnected) throw new Error('NATS is away.');
    // Sent again within two minutes, it is dropped by the server already.
    await jetstream(this.connection).publish(`${this.names.events.subject}.${event.type}`, JSON.stringify(event), {
      msgID: event.id,
    });
  }

  private async open(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        await this.connect();
        return;
      } catch (error) {
        this.outage.begins(error);
        await this.connection?.close();
        await setTimeout(RECONNECT_MS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      }
    }
  }

  private async connect(): Promise<void> {
    this.connection = await connect({
      servers: this.url,
      name: 'payments',
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_MS,
    });
    await this.declare(this.connection);
    this.isConnected = true;
    this.outage.ends();
    void this.watch(this.connection);
    this.isDeclared(jetstream(this.connection));
  }

  private async declare(connection: NatsConnection): Promise<void> {
    const { settlements, deadLetters, events, consumer } = this.names;
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: deadLetters.stream, subjects: [deadLetters.subject] });
    await manager.streams.add({ name: events.stream, subjects: [`${events.subject}.>`] });
    await manager.streams.add({
      name: settlements.stream,
      subjects: [settlements.subject],
      retention: 'workqueue',
    });
    await manager.consumers.add(settlements.stream, {
      durable_name: consumer,
      ack_policy: 'explicit',
      ack_wait: nanos(ACK_WAIT_MS),
    });
  }

  private async watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type !== 'disconnect' && type !== 'reconnect') continue;
      this.isConnected = type === 'reconnect';
      if (this.isConnected) this.outage.ends();
      else if (!this.stopping.signal.aborted) this.outage.begins(undefined);
    }
  }
}
