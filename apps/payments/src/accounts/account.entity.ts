import { Column, Entity, PrimaryColumn } from 'typeorm';
import { minorUnits } from '../database/minor-units.js';

/**
 * A customer account never goes below zero. The others are the merchant's own, one of each for a currency, and no payment
 * can name them: opening balances come from `equity`, money from cards comes from `clearing` and goes to `sales`, and when it
 * arrives at the `bank` it is no longer in `clearing`. What is below zero in `equity`, `clearing` and `bank` is above it
 * everywhere else.
 */
export type AccountKind = 'customer' | 'equity' | 'clearing' | 'sales' | 'bank';

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
