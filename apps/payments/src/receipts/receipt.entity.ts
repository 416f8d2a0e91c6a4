import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { minorUnits } from '../database/minor-units.js';

@Entity('receipts')
export class Receipt {
  @PrimaryColumn('text', { name: 'merchant_id' })
  merchantId!: string;

  @PrimaryColumn('text', { name: 'charge_id' })
  chargeId!: string;

  @Column({ ...minorUnits, name: 'amount' })
  amount!: number;

  @Column('text', { name: 'currency' })
  currency!: string;

  @CreateDateColumn({ type: 'timestamptz', name: 'issued_at' })
  issuedAt!: Date;
}
