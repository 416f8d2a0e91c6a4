import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Call } from '../calls/call.js';
import type { ChargeEvent } from '../calls/effect.js';
import type { WebhookFault } from '../faults/fault.js';
import { FaultQueue } from '../faults/fault-queue.js';
import { Settings } from '../settings/settings.js';
import { WebhookEvent, type WebhookState } from './webhook-event.entity.js';

export interface WrittenEvent {
  readonly id: string;
  readonly fault: WebhookFault | undefined;
}

/** An event in the hands of whoever delivers it. */
export interface DueEvent {
  readonly id: string;
  /** The same text at every attempt. */
  readonly payload: string;
  readonly fault: WebhookFault | null;
  /** This one included. */
  readonly attempts: number;
  /** When this attempt is made, by the database's clock. */
  readonly attemptedAt: Date;
}

const MAX_ATTEMPTS = 5;

/** How long an attempt is nobody else's. A process that dies with it lets go of it then. */
const ATTEMPT_SECONDS = 30;

/** The events, from the transaction that writes them until they are acknowledged or given up. */
@Injectable()
export class Outbox {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: Settings,
    private readonly faults: FaultQueue,
  ) {}

  /** Writes the event of a call, with the fault that is meant for it; nothing while there is no URL to tell it to. */
  async write(manager: EntityManager, call: Call, { type, data }: ChargeEvent): Promise<WrittenEvent[]> {
    if (this.settings.webhookUrl === undefined) return [];
    const id = `msg_${randomUUID()}`;
    const fault = this.faults.takeForEvent(call);
    await manager.query(
      `INSERT INTO webhook_events (merchant_id, id, type, data, fault, state, attempts, next_attempt_at)
       VALUES ($1, $2, $3, $4, $5, 'pending', 0, clock_timestamp() + make_interval(secs => $6))`,
      [call.merchantId, id, type, JSON.stringify(data), fault ? JSON.stringify(fault) : null, delaySecondsOf(fault)],
    );
    return [{ id, fault }];
  }

  /** The first event that is due, of which nobody else makes an attempt at the same time. */
  async take(): Promise<DueEvent | undefined> {
    const [rows] = await this.dataSource.query<[TakenRow[], number]>(
      `UPDATE webhook_events
          SET attempts = attempts + 1, next_attempt_at = clock_timestamp() + make_interval(secs => $1)
        WHERE (merchant_id, id) = (
          SELECT merchant_id, id FROM webhook_events WHERE state = 'pending' AND next_attempt_at <= clock_timestamp()
           ORDER BY sequence LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING id, type, created_at, data, fault, attempts, clock_timestamp() AS attempted_at`,
      [ATTEMPT_SECONDS],
    );
    const [row] = rows;
    if (!row) return undefined;
    const { id, type, created_at, data, fault, attempts, attempted_at: attemptedAt } = row;
    return { id, payload: JSON.stringify({ type, timestamp: created_at, data }), fault, attempts, attemptedAt };
  }

  /** How long until an event is due; undefined when none is going to be by itself. */
  async dueInMs(): Promise<number | undefined> {
    const [row] = await this.dataSource.query<{ ms: number | null }[]>(
      `SELECT greatest(0, extract(epoch FROM min(next_attempt_at) - clock_timestamp()) * 1000)::float8 AS ms
         FROM webhook_events WHERE state = 'pending'`,
    );
    return row?.ms ?? undefined;
  }

  async acknowledge(id: string, outcome: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE webhook_events SET state = 'delivered', next_attempt_at = NULL, last_outcome = $2 WHERE id = $1`,
      [id, outcome],
    );
  }

  /** Has the event wait for its next attempt, twice as long each time, or gives it up after the last. */
  async fail({ id, attempts }: DueEvent, outcome: string): Promise<WebhookState> {
    const isLast = attempts >= MAX_ATTEMPTS;
    const state: WebhookState = isLast ? 'given_up' : 'pending';
    const waitSeconds = isLast ? null : (this.settings.webhookRetryMs / 1000) * 2 ** (attempts - 1);
    await this.dataSource.query(
      `UPDATE webhook_events SET state = $2, last_outcome = $3,
              next_attempt_at = clock_timestamp() + make_interval(secs => $4) WHERE id = $1`,
      [id, state, outcome, waitSeconds],
    );
    return state;
  }

  /** An attempt that was broken off is none. */
  async putBack({ id }: DueEvent): Promise<void> {
    await this.dataSource.query(
      'UPDATE webhook_events SET attempts = attempts - 1, next_attempt_at = clock_timestamp() WHERE id = $1',
      [id],
    );
  }

  /**
   * Makes an event due at once, and returns how many there were; without an id every one that was not delivered. One
   * that was delivered or given up begins anew, and its fault is over.
   */
  async makeDue(id?: string): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE webhook_events
          SET state = 'pending', next_attempt_at = clock_timestamp(),
              attempts = CASE state WHEN 'pending' THEN attempts ELSE 0 END,
              fault = CASE state WHEN 'pending' THEN fault END
        WHERE CASE WHEN $1::text IS NULL THEN state <> 'delivered' ELSE id = $1 END`,
      [id ?? null],
    );
    return count;
  }

  async stateOf(id: string): Promise<WebhookState> {
    const { state } = await this.dataSource.manager.findOneByOrFail(WebhookEvent, { id });
    return state;
  }

  list(): Promise<WebhookEvent[]> {
    return this.dataSource.manager.find(WebhookEvent, { order: { sequence: 'ASC' } });
  }
}

interface TakenRow {
  readonly id: string;
  readonly type: string;
  readonly created_at: Date;
  readonly data: object;
  readonly fault: WebhookFault | null;
  readonly attempts: number;
  readonly attempted_at: Date;
}

/** Null is a time that never comes: `clock_timestamp()` plus nothing known is nothing known. */
function delaySecondsOf(fault: WebhookFault | undefined): number | null {
  if (fault?.kind !== 'late_webhook') return 0;
  return fault.delayMs === undefined ? null : fault.delayMs / 1000;
}
