import { decide, type OperationRecord } from '../core/decision.js';
import type { AttemptConnection } from './attempt-connection.js';
import type { Connection } from './connection.js';
import { type RecordRow, toRecord } from './record-row.js';
import { interval } from './statements.js';

/** What came of an attempt to take a record whose operation is locked. */
export interface Taken {
  /** Which attempt it is, counted from 1; null where the record is not to be had. */
  readonly attempts: number | null;
  /** The record, where it was read. */
  readonly found?: OperationRecord | null;
}

/**
 * How an operation's record is taken and written by the one transaction that holds the operation's lock.
 *
 * Both need the lock's marker, and are run on the connection that they are given.
 */
export interface LockedRecord {
  take(connection: Connection, token: string, fingerprint: Uint8Array): Promise<Taken>;
  /** False where somebody who did not ask for the lock has the record. */
  write(connection: Connection, token: string, fingerprint: Uint8Array, answer: readonly unknown[]): Promise<boolean>;
}

/** At READ COMMITTED: looked at when the lock was had, and written as a whole when the work is done. */
export class UnwrittenRecord implements LockedRecord {
  constructor(private readonly attempt: AttemptConnection) {}

  async take(connection: Connection, _token: string, fingerprint: Uint8Array): Promise<Taken> {
    const { statements, identity } = this.attempt;
    const { rows } = await connection.run<RecordRow>(statements.read, identity);
    const row = rows[0] ?? null;
    const found = toRecord(row);
    const attempts = row === null || row.is_expired ? 1 : row.attempts + 1;
    return { attempts: isFree(found, fingerprint) ? attempts : null, found };
  }

  async write(connection: Connection, token: string, fingerprint: Uint8Array, answer: unknown[]): Promise<boolean> {
    const { statements, identity, attempt } = this.attempt;
    const values = [...identity, fingerprint, token, interval(attempt.retentionMs), ...answer];
    return (await connection.run(statements.insert, values)).rowCount === 1;
  }
}

/**
 * In a stricter transaction: written as in progress before the work, for nobody else to see.
 *
 * The snapshot of such a transaction is older than its lock, so a look could miss what the lock's last holder
 * committed. And a serializable transaction that looks for a row that is not there conflicts with every other that
 * inserts one near it, of whatever operation. An insert finds out the truth and conflicts with nobody.
 */
export class ReservedRecord implements LockedRecord {
  constructor(private readonly attempt: AttemptConnection) {}

  async take(connection: Connection, token: string, fingerprint: Uint8Array): Promise<Taken> {
    const { statements, identity, attempt } = this.attempt;
    const values = [...identity, fingerprint, token, interval(attempt.retentionMs)];
    const { rows } = await connection.run<{ attempts: number }>(statements.reserve, values);
    return { attempts: rows[0]?.attempts ?? null };
  }

  async write(connection: Connection, token: string, _fingerprint: Uint8Array, answer: unknown[]): Promise<boolean> {
    const { statements, identity } = this.attempt;
    return (await connection.run(statements.record, [...identity, token, ...answer])).rowCount === 1;
  }
}

function isFree(record: OperationRecord | null, fingerprint: Uint8Array): boolean {
  // What has steps is left to leases.
  if (record?.state === 'in_progress' && record.hasSteps) return false;
  return decide(record, { fingerprint }).kind === 'claimable';
}
