import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import type { WebhookFault } from '../faults/fault.js';

export type WebhookState = 'pending' | 'delivered' | 'given_up';

/** Something the merchant is told. It is written in the transaction of what it tells of. */
@Entity('webhook_events')
export class WebhookEvent {
  @PrimaryColumn('text', { name: 'merchant_id' })
  merchantId!: string;

  /** The `webhook-id` of every delivery. */
  @PrimaryColumn('text', { name: 'id' })
  id!: string;

  @Column({ type: 'bigint', name: 'sequence', insert: false, update: false })
  sequence!: string;

  @Column('text', { name: 'type' })
  type!: string;

  @Column('json', { name: 'data' })
  data!: object;

  @Column('json', { name: 'fault', nullable: true })
  fault!: WebhookFault | null;

  @Column('text', { name: 'state' })
  state!: WebhookState;

  @Column('integer', { name: 'attempts' })
  attempts!: number;

  /** Null while it is not pending, and while it waits for the command to send it. */
  @Column('timestamptz', { name: 'next_attempt_at', nullable: true })
  nextAttemptAt!: Date | null;

  /** What became of the last attempt: a status, or why there was none. */
  @Column('text', { name: 'last_outcome', nullable: true })
  lastOutcome!: string | null;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;
}
