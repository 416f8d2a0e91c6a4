import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { minorUnits } from '../database/minor-units.js';

@Entity('refunds')
export class Refund {
  @PrimaryColumn('text', { name: 'merchant_id' })
  merchantId!: string;

  @PrimaryColumn('text', { name: 'id' })
  id!: string;

  @Column('text', { name: 'payment_id' })
  paymentId!: string;

  @Column({ ...minorUnits, name: 'amount' })
  amount!: number;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;
}
