import { randomUUID } from 'node:crypto';

import type { EntityManager } from 'typeorm';

import type { Isolation } from '../core/attempt.js';
import type { Claim } from '../core/claim.js';
import { decide, type OperationRecord } from '../core/decision.js';
import { workBroken } from '../core/errors.js';
import type { Report, Session } from '../core/ports.js';
import type { AttemptConnection } from './attempt-connection.js';
import type { Connection } from './connection.js';
import { takeRecord, writeRecord } from './locked-record.js';
import { isConflict, LOCK_NOT_AVAILABLE, sqlState } from './postgres-errors.js';
import { toRecord } from './record-row.js';
import { awaitingBeginStatement, lockingBeginStatement } from './statements.js';
import { WorkTransaction } from './work-transaction.js';

/** The transaction strategy: the claim is a lock, held by the very transaction in which the work runs. */
export class TransactionSession implements Session<EntityManager> {
  private fingerprint: Uint8Array = Buffer.of();
  /** Where a claim's transaction is open that no work has been given yet. */
  private claimed: Connection | null = null;
  private work: WorkTransaction | null = null;
  /** What the last claim read, until it is asked for. */
  private found: OperationRecord | null | undefined;
  /** Somebody else came in between: undone here, the operation may be theirs by now. */
  private isContested = false;

  constructor(
    private readonly connection: AttemptConnection,
    private readonly isolation: Isolation,
    private readonly lock: string,
    private readonly report: Report,
  ) {}

  async claim(fingerprint: Uint8Array): Promise<Claim | 'held' | 'busy'> {
    this.fingerprint = fingerprint;
    return this.take(randomUUID());
  }

  async read(): Promise<OperationRecord | null> {
    const { found } = this;
    this.found = undefined;
    return found === undefined ? toRecord(await this.connection.read()) : found;
  }

  async begin({ token }: Claim): Promise<WorkTransaction> {
    const { fingerprint } = this;
    const connection = this.claimed ?? (await this.takeAgain(token));
    this.claimed = null;
    this.isContested = false;
    this.work = null;
    this.work = await WorkTransaction.begin(connection, this.report, {
      open: () => Promise.resolve(),
      record: async (answer) => {
        const isRecorded = await writeRecord(this.connection, { connection, token, fingerprint }, answer);
        this.isContested = !isRecorded;
        return isRecorded;
      },
    });
    return this.work;
  }

  async release({ token }: Claim): Promise<boolean> {
    if (this.claimed) {
      await this.undo();
      return true;
    }
    if (!this.work?.isUndone) return this.isFreeOf(await this.outlast(), token);
    return !this.isContested || this.isFreeOf(await this.read(), token);
  }

  rest(): void {
    // Its connection is its claim.
  }

  intend(): Promise<never> {
    return Promise.reject(stepsNeedALease());
  }

  withdraw(): Promise<never> {
    return Promise.reject(stepsNeedALease());
  }

  finish(): Promise<never> {
    return Promise.reject(stepsNeedALease());
  }

  close(): void {
    if (this.claimed) void this.undo().then(() => this.connection.close());
    else this.connection.close();
  }

  /** Opens a transaction that holds both lock and record; what stands in the way where it cannot. */
  private async take(token: string): Promise<Claim | 'held' | 'busy'> {
    const { isolation, lock, fingerprint } = this;
    const { leaseMs } = this.connection.attempt;
    const connection = await this.connection.unused();
    this.claimed = connection;
    this.found = undefined;
    try {
      // Two statements, for the second to see what the lock's last holder has left; without the lock it takes nothing.
      const locking = connection.command(lockingBeginStatement({ isolation, token, leaseMs, lock }));
      if (!connection.isPipelined) await locking;
      const taking = takeRecord(this.connection, isolation, { connection, token, fingerprint });
      const [{ rowCount }, { attempts, found }] = await Promise.all([locking, taking]);
      if (rowCount === 1 && attempts !== null) return { token, attempts, hasSteps: false, heldBy: 'transaction' };
      await this.undo();
      this.found = found;
      return rowCount === 1 ? 'held' : 'busy';
    } catch (error) {
      await this.undo();
      if (sqlState(error) === LOCK_NOT_AVAILABLE || isConflict(error)) return 'held';
      throw error;
    }
  }

  /** The lock went with the transaction that was rolled back. */
  private async takeAgain(token: string): Promise<Connection> {
    if (typeof (await this.take(token)) === 'object') return this.claimed!;
    this.isContested = true;
    throw new Error('Another attempt took the operation when the work of this one had been undone.');
  }

  /** Nobody has said how the work's transaction ended: while it lives, so does its lock. */
  private async outlast(): Promise<OperationRecord | null> {
    const connection = await this.connection.usable();
    try {
      await connection.command(awaitingBeginStatement(this.lock, this.connection.attempt.leaseMs));
      return toRecord(await this.connection.read());
    } finally {
      await connection.rollBack(this.report);
    }
  }

  /** Whether the record is neither this claim's, nor somebody else's. */
  private isFreeOf(record: OperationRecord | null, token: string): boolean {
    return record?.token !== token && decide(record, this.connection.attempt).kind === 'claimable';
  }

  private async undo(): Promise<void> {
    const { claimed } = this;
    this.claimed = null;
    await claimed?.rollBack(this.report);
  }
}

function stepsNeedALease(): Error {
  return workBroken("Steps need a claim that is committed before the work: `claim: 'lease'`.");
}
