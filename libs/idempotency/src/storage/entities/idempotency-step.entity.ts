import { Column, Entity, PrimaryColumn } from 'typeorm';

const PRIMARY_KEY = { type: 'text', primaryKeyConstraintName: 'idempotency_steps_pkey' } as const;

/**
 * One outside call of an operation: its intent, the key its provider knows it by, and its result.
 *
 * There is no foreign key to the record: a cascade could lose an intent.
 */
@Entity({ name: 'idempotency_steps' })
export class IdempotencyStep {
  @PrimaryColumn({ name: 'tenant', ...PRIMARY_KEY })
  tenant!: string;

  @PrimaryColumn({ name: 'endpoint', ...PRIMARY_KEY })
  endpoint!: string;

  @PrimaryColumn({ name: 'key', ...PRIMARY_KEY })
  key!: string;

  @PrimaryColumn({ name: 'name', ...PRIMARY_KEY })
  name!: string;

  @Column({ name: 'provider_key', type: 'text' })
  providerKey!: string;

  @Column({ name: 'token', type: 'uuid' })
  token!: string;

  @Column({ name: 'result', type: 'text', nullable: true })
  result!: string | null;

  @Column({ name: 'intended_at', type: 'timestamptz', default: () => 'statement_timestamp()' })
  intendedAt!: Date;

  @Column({ name: 'finished_at', type: 'timestamptz', nullable: true })
  finishedAt!: Date | null;
}
