import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class Payment {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('integer')
  amount!: number;

  /** The provider's id of what was charged. */
  @Column('text')
  charge!: string;

  /** The provider's id of what went back. */
  @Column('text', { nullable: true })
  refund!: string | null;

  @Column('boolean')
  isSettled!: boolean;
}

export class CreatePayment {
  amount!: number;
  card!: string;
}
