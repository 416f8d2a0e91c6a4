import type { EntityManager } from 'typeorm';

import { storeUnavailable, workBroken } from '../core/errors.js';
import type { Report, Work } from '../core/ports.js';
import type { Recording } from '../core/recording.js';
import type { Connection } from './connection.js';
import { IN_FAILED_TRANSACTION, isConflict, isConnectionLost, sqlState } from './postgres-errors.js';
import { SharedManager } from './shared-manager.js';

/** What the two ways of claiming an operation do differently in the transaction of its work. */
export interface Terms {
  /** Opens the transaction on the work's connection, if it is not open yet. */
  open(): Promise<unknown>;
  /** Writes the recording's columns; false when the claim is lost. */
  record(answer: readonly unknown[]): Promise<boolean>;
}

/** The one transaction in which the handler writes and its answer is recorded. */
export class WorkTransaction implements Work<EntityManager> {
  /** The server has confirmed that nothing of it was committed. */
  isUndone = false;
  /** The recording or COMMIT had to give way. */
  private gaveWay = false;

  private constructor(
    private readonly connection: Connection,
    private readonly report: Report,
    private readonly terms: Terms,
    private readonly shared: SharedManager,
  ) {}

  static async begin(connection: Connection, report: Report, terms: Terms): Promise<WorkTransaction> {
    const shared = new SharedManager(connection.runner, () => terms.open());
    connection.isHandedOut = true;
    connection.watch((text) => shared.forbidControl(text));
    try {
      await shared.open();
    } catch (error) {
      connection.distrust();
      throw error;
    }
    return new WorkTransaction(connection, report, terms, shared);
  }

  get tx(): EntityManager {
    return this.shared.manager;
  }

  get metConflict(): boolean {
    return this.shared.metConflict || this.gaveWay;
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
    const { status, headers, body, omitted, resource, keyId = null } = recording;
    try {
      return await this.terms.record([status, JSON.stringify(headers), body, omitted, resource, keyId]);
    } catch (error) {
      throw sqlState(error) === IN_FAILED_TRANSACTION ? swallowedError() : this.unconfirmed(error);
    }
  }

  async commit(): Promise<void> {
    if (this.shared.fault) throw this.shared.fault;
    const { command } = await this.connection.command('COMMIT').catch((error: unknown) => {
      throw this.unconfirmed(error);
    });
    // A transaction that had failed before answers COMMIT with the tag ROLLBACK, and without an error.
    if (command !== 'COMMIT') throw swallowedError();
    this.connection.runner.broadcaster.broadcast('AfterTransactionCommit').catch((error: unknown) => {
      this.report('A subscriber failed after the commit; the work itself is committed.', error);
    });
  }

  async rollback(): Promise<void> {
    await this.shared.close();
    this.isUndone = await this.connection.rollBack(this.report);
  }

  /** A store that went away says nothing of the work. */
  private unconfirmed(error: unknown): unknown {
    this.gaveWay ||= isConflict(error);
    if (!isConnectionLost(error)) return error;
    this.report('The store went away before it confirmed that work was committed.', error);
    return storeUnavailable(error);
  }
}

function swallowedError(): Error {
  return workBroken(
    'A query inside the transaction failed and its error was swallowed, so nothing can be committed. ' +
      'Let the error pass, or put what may fail into a `manager.transaction()` of its own.',
  );
}
