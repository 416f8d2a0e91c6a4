import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { minorUnits } from '../database/minor-units.js';

@Entity('payments')
export class Payment {
  @PrimaryColumn('text', { name: 'merchant_id' })
  merchantId!: string;

  @PrimaryColumn('text', { name: 'id' })
  id!: string;

  @Column({ ...minorUnits, name: 'amount' })
  amount!: number;

  @Column('text', { name: 'currency' })
  currency!: string;

  @Column('text', { name: 'source' })
  source!: string;

  @Column('text', { name: 'destination' })
  destination!: string;

  /** How much of `amount` has gone back. */
  @Column({ ...minorUnits, name: 'refunded' })
  refunded!: number;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;
}
