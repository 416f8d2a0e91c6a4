import { randomUUID } from 'node:crypto';

import type { EntityManager } from 'typeorm';

import type { Claim } from '../core/claim.js';
import type { OperationRecord } from '../core/decision.js';
import type { Report, Session } from '../core/ports.js';
import type { AttemptConnection } from './attempt-connection.js';
import { isConflict, LOCK_NOT_AVAILABLE, sqlState } from './postgres-errors.js';
import { toRecord } from './record-row.js';
import { beginStatement, interval } from './statements.js';
import { WorkTransaction } from './work-transaction.js';

/** How often a release gives way to other transactions before it gives up. */
const MAX_RELEASES = 3;

/** The lease strategy: the claim is a committed row, honoured until its lease runs out. */
export class LeaseSession implements Session<EntityManager> {
  constructor(
    private readonly connection: AttemptConnection,
    private readonly report: Report,
  ) {}

  async claim(fingerprint: Uint8Array): Promise<Claim | 'held'> {
    const { leaseMs, retentionMs } = this.connection.attempt;
    const token = randomUUID();
    const terms = [interval(leaseMs), interval(retentionMs)];
    try {
      const { rows } = await this.connection.run<{ attempts: number }>('claim', fingerprint, token, ...terms);
      return rows[0] ? { token, attempts: rows[0].attempts, heldBy: 'row' } : 'held';
    } catch (error) {
      if (sqlState(error) === LOCK_NOT_AVAILABLE || isConflict(error)) return 'held';
      this.forget(token);
      throw error;
    }
  }

  async read(): Promise<OperationRecord | null> {
    return toRecord(await this.connection.read());
  }

  async begin({ token }: Claim): Promise<WorkTransaction> {
    const { attempt, identity, statements } = this.connection;
    const connection = await this.connection.unused();
    return WorkTransaction.begin(connection, this.report, {
      open: () => connection.command(beginStatement(token, attempt.leaseMs)),
      record: async (answer) => {
        const { rowCount } = await connection.run(statements.record, [...identity, token, ...answer]);
        return rowCount === 1;
      },
    });
  }

  async release({ token }: Claim): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        return (await this.connection.run('release', token)).rowCount === 1;
      } catch (error) {
        if (!isConflict(error) || tries === MAX_RELEASES) throw error;
      }
    }
  }

  close(): void {
    this.connection.close();
  }

  /** The claim may have been committed although its answer never came: nobody is to wait for its lease. */
  private forget(token: string): void {
    void this.connection
      .another()
      .then((connection) => new LeaseSession(connection, this.report))
      .then((session) => session.release({ token, attempts: 0, heldBy: 'row' }).finally(() => session.close()))
      .catch((error: unknown) => this.report('A claim whose answer was lost could not be released.', error));
  }
}
