import { setTimeout } from 'node:timers/promises';
import { type Consumer, type JetStreamClient, jetstream, type JsMsg } from '@nats-io/jetstream';
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { IdempotencyService, type ParkReason, type Settlement } from 'nestjs-idempotency';

import { type Booking, Bookings } from './bookings.js';

export const NATS = Symbol('NATS');
export const BOOKINGS_STREAM = Symbol('BOOKINGS_STREAM');

export interface BookingsStream {
  readonly stream: string;
  /** A durable consumer with explicit acknowledgement, and no limit to its deliveries. */
  readonly consumer: string;
  /** The subject of another stream, for messages that somebody has to look at. */
  readonly deadLetters: string;
  /** Its `ack_wait`, in milliseconds. */
  readonly ackWaitMs: number;
}

/** How many messages are handled at the same time. */
const LANES = 8;

@Injectable()
export class JetStreamBookings implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(JetStreamBookings.name);
  private readonly client: JetStreamClient;
  private lanes: Promise<void>[] = [];
  private isStopping = false;

  constructor(
    private readonly idempotency: IdempotencyService,
    private readonly bookings: Bookings,
    @Inject(NATS) nats: NatsConnection,
    @Inject(BOOKINGS_STREAM) private readonly place: BookingsStream,
  ) {
    this.client = jetstream(nats);
  }

  async onApplicationBootstrap(): Promise<void> {
    const consumer = await this.client.consumers.get(this.place.stream, this.place.consumer);
    this.lanes = Array.from({ length: LANES }, () => this.handleAll(consumer));
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.lanes);
  }

  /** One after the other: none waits here while its `ack_wait` runs. */
  private async handleAll(consumer: Consumer): Promise<void> {
    while (!this.isStopping) {
      try {
        const message = await consumer.next({ expires: 2_000 });
        if (message) await this.handle(message);
      } catch (error) {
        this.logger.error('A message could not be taken or settled; it will be delivered again.', error);
        await setTimeout(1_000);
      }
    }
  }

  private async handle(message: JsMsg): Promise<void> {
    // Nobody else is given it while it is worked on, however long that takes.
    const working = setInterval(() => message.working(), this.place.ackWaitMs / 3);
    try {
      const settlement = await this.idempotency.consume(
        { endpoint: 'bookings', payload: message.data, headers: headersOf(message) },
        ({ manager }) => this.bookings.book(message.json<Booking>(), manager),
      );
      await this.settle(message, settlement);
    } finally {
      clearInterval(working);
    }
  }

  private async settle(message: JsMsg, settlement: Settlement): Promise<void> {
    switch (settlement.kind) {
      case 'acknowledge':
        return message.ack();
      case 'retry':
        return message.nak(settlement.afterMs);
      case 'park':
        // First there, then gone from here; once, also where it comes here again because we died in between.
        await this.client.publish(this.place.deadLetters, message.data, {
          msgID: `${this.place.stream}:${message.seq}`,
          headers: parkedHeaders(message, settlement.reason),
        });
        return message.term();
    }
  }
}

function headersOf({ headers }: JsMsg): Record<string, string> {
  return Object.fromEntries((headers?.keys() ?? []).map((name) => [name, headers!.get(name)]));
}

function parkedHeaders(message: JsMsg, reason: ParkReason): MsgHdrs {
  const parked = headers();
  for (const name of message.headers?.keys() ?? []) parked.set(name, message.headers!.get(name));
  parked.set('Park-Reason', reason);
  return parked;
}
