import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * The row of an operation: `in_progress` while its work runs, `completed` once its answer is recorded.
 *
 * The library reads and writes it by its own statements only. Columns of fixed width come first; no index names the
 * columns that a completion changes, so that most completions are HOT updates.
 */
@Entity({ name: 'idempotency_records' })
@Check(`state IN ('in_progress', 'completed')`)
export class IdempotencyRecord {
  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** From when on the key is forgotten and the row may be swept. Never changed by a completion. */
  @Index()
  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt!: Date;

  /**
   * Until when the recording is replayed, where the key is remembered as used for longer than that; null where it is
   * not, and in the tombstone that a sweep leaves of it. Never changed by a completion.
   */
  @Index({ where: 'replays_until IS NOT NULL' })
  @Column({ name: 'replays_until', type: 'timestamptz', nullable: true })
  replaysUntil!: Date | null;

  /** When the claim was taken. */
  @Column({ name: 'locked_at', type: 'timestamptz', nullable: true })
  lockedAt!: Date | null;

  /** When the claim's lease runs out; null when nobody holds the operation. */
  @Column({ name: 'locked_until', type: 'timestamptz', nullable: true })
  lockedUntil!: Date | null;

  @Column({ name: 'completed_at', type: 'timestamptz', nullable: true })
  completedAt!: Date | null;

  /** Proves the claim: every change of a claimed row names it. */
  @Column({ name: 'token', type: 'uuid', nullable: true })
  token!: string | null;

  @Column({ name: 'attempts', type: 'integer', default: 1 })
  attempts!: number;

  @Column({ name: 'response_status', type: 'smallint', nullable: true })
  responseStatus!: number | null;

  @Column({ name: 'has_steps', type: 'boolean', default: false })
  hasSteps!: boolean;

  @PrimaryColumn({ name: 'tenant', type: 'text' })
  tenant!: string;

  @PrimaryColumn({ name: 'endpoint', type: 'text' })
  endpoint!: string;

  @PrimaryColumn({ name: 'key', type: 'text' })
  key!: string;

  @Column({ name: 'state', type: 'text' })
  state!: 'in_progress' | 'completed';

  /** Its first byte is the version of the algorithm. */
  @Column({ name: 'fingerprint', type: 'bytea' })
  fingerprint!: Buffer;

  /** A JSON array of [name, value] pairs, as text: order and repeats survive, and so does every character. */
  @Column({ name: 'response_headers', type: 'text', nullable: true })
  responseHeaders!: string | null;

  @Column({ name: 'response_body', type: 'bytea', nullable: true })
  responseBody!: Buffer | null;

  /** Why there is no body although the answer had one. */
  @Column({ name: 'response_omitted', type: 'text', nullable: true })
  responseOmitted!: string | null;

  /** Names the key that the body is encrypted under; null where it is kept as it was sent. */
  @Column({ name: 'response_key_id', type: 'text', nullable: true })
  responseKeyId!: string | null;

  /** Where the result lives, such as the answer's `Location`. */
  @Column({ name: 'resource', type: 'text', nullable: true })
  resource!: string | null;
}
