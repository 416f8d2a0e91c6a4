import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class Payment {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('integer')
  amount!: number;
}

export class CreatePayment {
  amount!: number;
}
