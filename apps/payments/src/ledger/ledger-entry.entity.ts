import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { minorUnits } from '../database/minor-units.js';

/** One side of a transfer: below zero what the account gave, above zero what it received. */
@Entity('ledger_entries')
export class LedgerEntry {
  @PrimaryColumn('text', { name: 'merchant_id' })
  merchantId!: string;

  @PrimaryColumn('bigint', { name: 'id', generated: 'identity', generatedIdentity: 'ALWAYS' })
  id!: string;

  @Column('text', { name: 'account_id' })
  accountId!: string;

  @Column('text', { name: 'currency' })
  currency!: string;

  @Column({ ...minorUnits, name: 'amount' })
  amount!: number;

  /** The payment that was made or refunded; null for an opening balance, and for money from a card. */
  @Column('text', { name: 'payment_id', nullable: true })
  paymentId!: string | null;

  @Column('text', { name: 'refund_id', nullable: true })
  refundId!: string | null;

  /** The charge that was captured, refunded or settled; null for everything else. */
  @Column('text', { name: 'charge_id', nullable: true })
  chargeId!: string | null;

  @Column('text', { name: 'charge_refund_id', nullable: true })
  chargeRefundId!: string | null;

  @Column('text', { name: 'settlement_id', nullable: true })
  settlementId!: string | null;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;
}
