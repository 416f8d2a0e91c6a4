import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * One outside call of an operation: its intent, the key its provider knows it by, and its result.
 *
 * There is no foreign key to the record: a cascade could lose an intent.
 */
@Entity({ name: 'idempotency_steps' })
export class IdempotencyStep {
  @PrimaryColumn({ name: 'tenant', type: 'text' })
  tenant!: string;

  @PrimaryColumn({ name: 'endpoint', type: 'text' })
  endpoint!: string;

  @PrimaryColumn({ name: 'key', type: 'text' })
  key!: string;

  @PrimaryColumn({ name: 'name', type: 'text' })
  name!: string;

  @Column({ name: 'provider_key', type: 'text' })
  providerKey!: string;

  /** The claim under which the call was last announced. */
  @Column({ name: 'token', type: 'uuid' })
  token!: string;

  /** How often the call was announced. */
  @Column({ name: 'tries', type: 'integer', default: 1 })
  tries!: number;

  /** What became of it, in the library's own versioned form; null while nobody knows. */
  @Column({ name: 'result', type: 'text', nullable: true })
  result!: string | null;

  @Column({ name: 'intended_at', type: 'timestamptz', default: () => 'statement_timestamp()' })
  intendedAt!: Date;

  @Column({ name: 'finished_at', type: 'timestamptz', nullable: true })
  finishedAt!: Date | null;
}
