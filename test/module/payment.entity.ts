import { Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** The business table: what the work of every test writes, and what every test is judged by. */
@Entity({ name: 'payments' })
@Unique(['run', 'label'])
export class Payment {
  @PrimaryGeneratedColumn()
  id!: number;

  /** Which test wrote it. */
  @Column({ name: 'run', type: 'text' })
  run!: string;

  @Column({ name: 'label', type: 'text' })
  label!: string;

  @Column({ name: 'amount', type: 'integer', default: 1 })
  amount!: number;
}
