import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { minorUnits } from '../database/minor-units.js';

/** An authorized charge holds money that no capture has taken yet. */
export type ChargeStatus = 'authorized' | 'captured';

@Entity('charges')
export class Charge {
  @PrimaryColumn('text', { name: 'merchant_id' })
  merchantId!: string;

  @PrimaryColumn('text', { name: 'id' })
  id!: string;

  @Column('text', { name: 'status' })
  status!: ChargeStatus;

  @Column({ ...minorUnits, name: 'amount' })
  amount!: number;

  @Column('text', { name: 'currency' })
  currency!: string;

  @Column('text', { name: 'card' })
  card!: string;

  /** The merchant's own name for what is paid; it need not be unique. */
  @Column('text', { name: 'reference', nullable: true })
  reference!: string | null;

  /** How much of `amount` was taken. */
  @Column({ ...minorUnits, name: 'captured' })
  captured!: number;

  /** How much of `captured` has gone back. */
  @Column({ ...minorUnits, name: 'refunded' })
  refunded!: number;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;
}
