import { Column, Entity, PrimaryColumn } from 'typeorm';
import { minorUnits } from '../database/minor-units.js';

/**
 * A customer account never goes below zero. The equity account of a currency is where opening balances come from:
 * it is as far below zero as the customers together are above, and no payment can name it.
 */
export type AccountKind = 'customer' | 'equity';

@Entity('accounts')
export class Account {
  @PrimaryColumn('text', { name: 'merchant_id' })
  merchantId!: string;

  @PrimaryColumn('text', { name: 'id' })
  id!: string;

  @Column('text', { name: 'kind' })
  kind!: AccountKind;

  @Column('text', { name: 'currency' })
  currency!: string;

  @Column({ ...minorUnits, name: 'balance' })
  balance!: number;
}
