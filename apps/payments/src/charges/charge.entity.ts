import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { minorUnits } from '../database/minor-units.js';

/** An authorized charge holds money on a card; a captured one has taken it. */
export type ChargeStatus = 'authorized' | 'captured';

/** Money from a card, taken by the provider. What is booked of it is what the provider said, and no more. */
@Entity('charges')
export class Charge {
  @PrimaryColumn('text', { name: 'merchant_id' })
  merchantId!: string;

  @PrimaryColumn('text', { name: 'id' })
  id!: string;

  @Column('text', { name: 'provider_id' })
  providerId!: string;

  @Column('text', { name: 'status' })
  status!: ChargeStatus;

  @Column({ ...minorUnits, name: 'amount' })
  amount!: number;

  @Column('text', { name: 'currency' })
  currency!: string;

  /** How much of `amount` was taken. */
  @Column({ ...minorUnits, name: 'captured' })
  captured!: number;

  /** How much of `captured` has gone back. */
  @Column({ ...minorUnits, name: 'refunded' })
  refunded!: number;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;
}
