import { setTimeout } from 'node:timers/promises';
import type { Consumer, JetStreamClient, JsMsg } from '@nats-io/jetstream';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { IdempotencyService, type ParkReason, type Settlement } from 'nestjs-idempotency';
import { ACK_WAIT_MS, Nats } from '../brokers/nats.js';
import { bankOf } from './settlement-event.js';
import { PARK_REASON, SETTLEMENTS } from './settlements-endpoint.js';
import { SettlementsService } from './settlements.service.js';

/** How many settlements are handled at the same time. */
const LANES = 8;

/** Settlements that come from NATS: Nest's own transport knows nothing of JetStream, and acknowledges nothing. */
@Injectable()
export class NatsSettlements implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('NATS');
  private readonly lanes: Promise<void>[] = [];
  private isStopping = false;

  constructor(
    private readonly idempotency: IdempotencyService,
    private readonly settlements: SettlementsService,
    @Inject(Nats) private readonly nats: Nats | null,
  ) {}

  /** Begins when the broker is there; nobody waits for that. */
  onApplicationBootstrap(): void {
    void this.nats?.declared.then((client) => this.consume(client, this.nats!.names));
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.lanes);
  }

  private consume(client: JetStreamClient, { settlements, consumer }: Nats['names']): void {
    for (let lane = 0; lane < LANES; lane++) {
      this.lanes.push(this.handleAll(client, () => client.consumers.get(settlements.stream, consumer)));
    }
  }

  /** One after the other: none waits here while its `ack_wait` runs. */
  private async handleAll(client: JetStreamClient, find: () => Promise<Consumer>): Promise<void> {
    while (!this.isStopping) {
      try {
        const consumer = await find();
        while (!this.isStopping) {
          const message = await consumer.next({ expires: 1_000 });
          if (message) await this.handle(client, message);
        }
      } catch (error) {
        if (this.isStopping) return;
        this.logger.error(`A settlement could not be taken or settled; it will be delivered again. ${String(error)}`);
        await setTimeout(1_000);
      }
    }
  }

  private async handle(client: JetStreamClient, message: JsMsg): Promise<void> {
    // Nobody else is given it while it is worked on, however long that takes.
    const working = setInterval(() => message.working(), ACK_WAIT_MS / 3);
    try {
      const event = payloadOf(message);
      const settlement = await this.idempotency.consume(
        { endpoint: SETTLEMENTS, tenant: bankOf(event) ?? '', payload: event, headers: headersOf(message) },
        ({ manager }) => this.settlements.post(manager, event),
      );
      await this.settle(client, message, settlement);
    } finally {
      clearInterval(working);
    }
  }

  private async settle(client: JetStreamClient, message: JsMsg, settlement: Settlement): Promise<void> {
    switch (settlement.kind) {
      case 'acknowledge':
        return message.ack();
      case 'retry':
        return message.nak(settlement.afterMs);
      case 'park':
        // First there, then gone from here; once, also where it comes here again because we died in between.
        await client.publish(this.nats!.names.deadLetters.subject, message.data, {
          msgID: `${this.nats!.names.settlements.stream}:${message.seq}`,
          headers: parkedHeaders(message, settlement.reason),
        });
        // Servers before 2.10.4 take no notice of one that gives its reason.
        return message.term();
    }
  }
}

/** The event, or the text that is none, as RabbitMQ's transport has it too. */
function payloadOf(message: JsMsg): unknown {
  const text = message.string();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function headersOf({ headers }: JsMsg): Record<string, string> {
  return Object.fromEntries((headers?.keys() ?? []).map((name) => [name, headers!.get(name)]));
}

function parkedHeaders({ headers: given }: JsMsg, reason: ParkReason): MsgHdrs {
  const parked = headers();
  for (const name of given?.keys() ?? []) parked.set(name, given!.get(name));
  parked.set(PARK_REASON, reason);
  return parked;
}
