import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** What was answered under a key. It is written in the transaction of the call's effect, and kept for good. */
@Entity('kept_answers')
export class KeptAnswer {
  @PrimaryColumn('text', { name: 'merchant_id' })
  merchantId!: string;

  @PrimaryColumn('text', { name: 'key' })
  key!: string;

  @Column('text', { name: 'request_sha256' })
  requestSha256!: string;

  @Column('integer', { name: 'status', nullable: true })
  status!: number | null;

  @Column('text', { name: 'body', nullable: true })
  body!: string | null;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;
}
