import { randomUUID } from 'node:crypto';

import type { DataSource, EntityManager } from 'typeorm';

import type { Attempt } from '../core/attempt.js';
import type { Claim } from '../core/claim.js';
import type { OperationRecord } from '../core/decision.js';
import type { Report, Session } from '../core/ports.js';
import { Connection, type ConnectionOptions } from './connection.js';
import { isConflict, LOCK_NOT_AVAILABLE, sqlState } from './postgres-errors.js';
import { type RecordRow, toRecord } from './record-row.js';
import { interval, type Statements } from './statements.js';
import { WorkTransaction } from './work-transaction.js';

/** How often a release gives way to other transactions before it gives up. */
const MAX_RELEASES = 3;

/** The lease strategy: the claim is a committed row, honoured until its lease runs out. */
export class LeaseSession implements Session<EntityManager> {
  private constructor(
    private connection: Connection,
    private readonly dataSource: DataSource,
    private readonly options: ConnectionOptions,
    private readonly statements: Statements,
    private readonly attempt: Attempt,
    private readonly report: Report,
  ) {}

  static async open(
    dataSource: DataSource,
    options: ConnectionOptions,
    statements: Statements,
    attempt: Attempt,
    report: Report,
  ): Promise<LeaseSession> {
    const connection = await Connection.checkOut(dataSource, options);
    return new LeaseSession(connection, dataSource, options, statements, attempt, report);
  }

  async claim(fingerprint: Uint8Array): Promise<Claim | 'held'> {
    const { leaseMs, retentionMs } = this.attempt;
    const token = randomUUID();
    try {
      const { rows } = await this.connection.run<{ attempts: number }>(this.statements.claim, [
        ...this.identity,
        fingerprint,
        token,
        interval(leaseMs),
        interval(retentionMs),
      ]);
      return rows[0] ? { token, attempts: rows[0].attempts, heldBy: 'row' } : 'held';
    } catch (error) {
      if (sqlState(error) === LOCK_NOT_AVAILABLE || isConflict(error)) return 'held';
      this.forget(token);
      throw error;
    }
  }

  async read(): Promise<OperationRecord | null> {
    const connection = await this.usable();
    const { rows } = await connection.run<RecordRow>(this.statements.read, this.identity);
    return rows[0] ? toRecord(rows[0]) : null;
  }

  async begin(claim: Claim): Promise<WorkTransaction> {
    // A manager that was handed out once stays closed for good: another work needs another one.
    if (this.connection.isHandedOut) this.connection.close();
    const connection = await this.usable();
    return WorkTransaction.begin(connection, this.statements, this.attempt, claim, this.report);
  }

  async release(claim: Claim): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      const connection = await this.usable();
      try {
        const { rowCount } = await connection.run(this.statements.release, [...this.identity, claim.token]);
        return rowCount === 1;
      } catch (error) {
        if (!isConflict(error) || tries === MAX_RELEASES) throw error;
      }
    }
  }

  close(): void {
    this.connection.close();
  }

  private get identity(): [string, string, string] {
    const { tenant, endpoint, key } = this.attempt.operation;
    return [tenant, endpoint, key];
  }

  private async usable(): Promise<Connection> {
    if (!this.connection.isUsable) {
      this.connection.close();
      this.connection = await Connection.checkOut(this.dataSource, this.options);
    }
    return this.connection;
  }

  /** The claim may have been committed although its answer never came: nobody is to wait for its lease. */
  private forget(token: string): void {
    void LeaseSession.open(this.dataSource, this.options, this.statements, this.attempt, this.report)
      .then((session) => session.release({ token, attempts: 0, heldBy: 'row' }).finally(() => session.close()))
      .catch((error: unknown) => this.report('A claim whose answer was lost could not be released.', error));
  }
}
