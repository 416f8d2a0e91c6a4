import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { minorUnits } from '../database/minor-units.js';

@Entity('charge_refunds')
export class ChargeRefund {
  @PrimaryColumn('text', { name: 'merchant_id' })
  merchantId!: string;

  /** Ours, or the provider's for a refund that was made there and not here. */
  @PrimaryColumn('text', { name: 'id' })
  id!: string;

  @Column('text', { name: 'charge_id' })
  chargeId!: string;

  @Column('text', { name: 'provider_id' })
  providerId!: string;

  @Column({ ...minorUnits, name: 'amount' })
  amount!: number;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;
}
