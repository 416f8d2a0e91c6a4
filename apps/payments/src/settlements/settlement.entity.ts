import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { minorUnits } from '../database/minor-units.js';

/** Money of a charge that has arrived at the bank. */
@Entity('settlements')
export class Settlement {
  @PrimaryColumn('text', { name: 'merchant_id' })
  merchantId!: string;

  /** The bank's. */
  @PrimaryColumn('text', { name: 'id' })
  id!: string;

  @Column('text', { name: 'charge_id' })
  chargeId!: string;

  @Column({ ...minorUnits, name: 'amount' })
  amount!: number;

  @Column('text', { name: 'currency' })
  currency!: string;

  /** When it arrived, as the bank says. */
  @Column('timestamptz', { name: 'settled_at' })
  settledAt!: Date;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;
}
