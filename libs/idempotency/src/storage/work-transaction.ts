import type { EntityManager } from 'typeorm';

import type { Attempt } from '../core/attempt.js';
import type { Claim } from '../core/claim.js';
import { workBroken } from '../core/errors.js';
import type { Report, Work } from '../core/ports.js';
import type { Recording } from '../core/recording.js';
import type { Connection } from './connection.js';
import { IN_FAILED_TRANSACTION, sqlState } from './postgres-errors.js';
import { SharedManager } from './shared-manager.js';
import { beginStatement, type Statements } from './statements.js';

/** The one transaction in which the handler writes and its answer is recorded. */
export class WorkTransaction implements Work<EntityManager> {
  private constructor(
    private readonly connection: Connection,
    private readonly shared: SharedManager,
    private readonly statements: Statements,
    private readonly attempt: Attempt,
    private readonly claim: Claim,
    private readonly report: Report,
  ) {}

  static async begin(
    connection: Connection,
    statements: Statements,
    attempt: Attempt,
    claim: Claim,
    report: Report,
  ): Promise<WorkTransaction> {
    const shared = new SharedManager(connection.runner, () =>
      connection.command(beginStatement(claim.token, attempt.leaseMs)),
    );
    connection.isHandedOut = true;
    connection.watch((text) => shared.forbidControl(text));
    try {
      await shared.open();
    } catch (error) {
      connection.distrust();
      throw error;
    }
    return new WorkTransaction(connection, shared, statements, attempt, claim, report);
  }

  get tx(): EntityManager {
    return this.shared.manager;
  }

  keepAlive(): void {
    // Any command will do, also one that fails because the transaction has.
    this.shared.interject(() => this.connection.command('SELECT 1'));
  }

  async seal(): Promise<void> {
    const { dataSource, runner } = this.connection;
    // What subscribers do before a commit belongs to the work. Without them the gate closes in this very turn.
    if (dataSource.subscribers.some((subscriber) => 'beforeTransactionCommit' in subscriber)) {
      await runner.broadcaster.broadcast('BeforeTransactionCommit');
    }
    await this.shared.close();
    if (this.shared.fault) throw this.shared.fault;
  }

  async record(recording: Recording): Promise<boolean> {
    const { tenant, endpoint, key } = this.attempt.operation;
    const { status, headers, body, omitted, resource, keyId = null } = recording;
    const answer = [status, JSON.stringify(headers), body, omitted, resource, keyId];
    try {
      const values = [tenant, endpoint, key, this.claim.token, ...answer];
      return (await this.connection.run(this.statements.record, values)).rowCount === 1;
    } catch (error) {
      throw sqlState(error) === IN_FAILED_TRANSACTION ? swallowedError() : error;
    }
  }

  async commit(): Promise<void> {
    if (this.shared.fault) throw this.shared.fault;
    const { command } = await this.connection.command('COMMIT');
    // A transaction that had failed before answers COMMIT with the tag ROLLBACK, and without an error.
    if (command !== 'COMMIT') throw swallowedError();
    this.connection.runner.broadcaster.broadcast('AfterTransactionCommit').catch((error: unknown) => {
      this.report('A subscriber failed after the commit; the work itself is committed.', error);
    });
  }

  async rollback(): Promise<void> {
    await this.shared.close();
    if (!this.connection.isUsable) return;
    try {
      await this.connection.command('ROLLBACK');
    } catch (error) {
      this.connection.distrust();
      this.report('A rollback was not confirmed; its connection is closed, which rolls back as well.', error);
    }
  }
}

function swallowedError(): Error {
  return workBroken(
    'A query inside the transaction failed and its error was swallowed, so nothing can be committed. ' +
      'Let the error pass, or put what may fail into a `manager.transaction()` of its own.',
  );
}
