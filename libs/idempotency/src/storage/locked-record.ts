import type { Isolation } from '../core/attempt.js';
import { decide, type OperationRecord } from '../core/decision.js';
import type { AttemptConnection } from './attempt-connection.js';
import type { Connection } from './connection.js';
import { type RecordRow, toRecord } from './record-row.js';
import { expiry } from './statements.js';

/** What came of taking the record of an operation whose lock this transaction holds. */
export interface Taken {
  /** Which attempt it is, counted from 1; null where the record is not to be had. */
  readonly attempts: number | null;
  /** The record, where it was read. */
  readonly found?: OperationRecord | null;
}

/** Who takes or writes a record: in the transaction on `connection`, under the marker `token`. */
export interface Taker {
  readonly connection: Connection;
  readonly token: string;
  readonly fingerprint: Uint8Array;
}

/**
 * Takes the record for the work of this transaction.
 *
 * At READ COMMITTED a look is enough. The snapshot of a stricter transaction is older than its lock, so a look could
 * miss what the lock's last holder committed; and a serializable one that looks for a row conflicts with all that
 * insert theirs nearby. There the row is reserved: an insert finds out the truth, and conflicts with nobody.
 */
export function takeRecord(attempt: AttemptConnection, isolation: Isolation, taker: Taker): Promise<Taken> {
  return isolation === 'READ COMMITTED' ? look(attempt, taker) : reserve(attempt, taker);
}

/** Writes the whole record; false where somebody who did not ask for the lock has it. */
export async function writeRecord(
  { statements, identity, attempt }: AttemptConnection,
  { connection, token, fingerprint }: Taker,
  answer: readonly unknown[],
): Promise<boolean> {
  const values = [...identity, fingerprint, token, ...expiry(attempt), ...answer];
  return (await connection.run(statements.insert, values)).rowCount === 1;
}

async function look({ statements, identity }: AttemptConnection, { connection, fingerprint }: Taker): Promise<Taken> {
  const { rows } = await connection.run<RecordRow>(statements.read, identity);
  const row = rows[0] ?? null;
  const found = toRecord(row);
  if (!isFree(found, fingerprint)) return { attempts: null, found };
  return { attempts: row === null || row.is_past_retention ? 1 : row.attempts + 1, found };
}

async function reserve(
  { statements, identity, attempt }: AttemptConnection,
  { connection, token, fingerprint }: Taker,
): Promise<Taken> {
  const values = [...identity, fingerprint, token, ...expiry(attempt)];
  const { rows } = await connection.run<{ attempts: number }>(statements.reserve, values);
  return { attempts: rows[0]?.attempts ?? null };
}

function isFree(record: OperationRecord | null, fingerprint: Uint8Array): boolean {
  // What has steps is left to leases.
  if (record?.state === 'in_progress' && record.hasSteps) return false;
  return decide(record, { fingerprint }).kind === 'claimable';
}
