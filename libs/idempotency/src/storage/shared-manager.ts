import type { EntityManager, QueryRunner } from 'typeorm';

import { workBroken } from '../core/errors.js';
import { NestedTransactions } from './nested-transactions.js';
import { isConflict } from './postgres-errors.js';
import { controlsTransaction } from './transaction-control.js';

const TYPEORM_SAVEPOINT = /^(SAVEPOINT|RELEASE SAVEPOINT|ROLLBACK TO SAVEPOINT) (typeorm_\d+)$/;

/**
 * The `EntityManager` that the handler writes through, with a gate before its connection.
 *
 * The gate counts what is in flight, sees nested transactions come and go, turns away every attempt to end the
 * transaction from inside, and closes when the work is over.
 */
export class SharedManager {
  readonly manager: EntityManager;
  /** A query had to give way to other transactions. */
  metConflict = false;
  private phase: 'opening' | 'open' | 'closed' = 'opening';
  private inFlight = 0;
  private readonly onQuiet: (() => void)[] = [];
  private readonly openSavepoints = new Set<string>();
  private firstFault: Error | undefined;
  private speaking: Promise<unknown> | undefined;

  constructor(
    private readonly runner: QueryRunner,
    private readonly begin: () => Promise<unknown>,
  ) {
    this.manager = runner.manager;
    const query = runner.query.bind(runner) as (...args: unknown[]) => Promise<unknown>;
    const stream = runner.stream.bind(runner);
    runner.query = ((...args: unknown[]) => this.admit(String(args[0]), () => query(...args))) as QueryRunner['query'];
    runner.stream = (...args) => this.admit(args[0], () => stream(...args));
    runner.release = () => Promise.reject(this.blame(release()));
    const { manager } = this;
    const transaction = manager.transaction.bind(manager) as (...args: unknown[]) => Promise<unknown>;
    const nested = new NestedTransactions();
    manager.transaction = (...args: unknown[]) => nested.run(() => transaction(...args));
  }

  /** What makes the transaction unfit to be committed, if anything does. */
  get fault(): Error | undefined {
    return this.firstFault;
  }

  /** Turns away a command that would end the transaction, however it was going to be sent. */
  forbidControl(text: string): void {
    if (this.phase !== 'opening' && controlsTransaction(text)) throw this.blame(control());
  }

  /** Opens the transaction; TypeORM keeps its own account of it, so that nested transactions become savepoints. */
  async open(): Promise<void> {
    await this.runner.startTransaction();
    this.phase = 'open';
  }

  /** Sends a word of the library's own, if nothing else is being said; queries wait until it is answered. */
  interject(send: () => Promise<unknown>): void {
    if (this.inFlight > 0 || this.speaking) return;
    this.speaking = send()
      .catch(() => undefined)
      .finally(() => (this.speaking = undefined));
  }

  /** Lets nothing more through and waits for what is in flight. */
  async close(): Promise<void> {
    this.phase = 'closed';
    await this.speaking;
    if (this.inFlight > 0) await new Promise<void>((resolve) => this.onQuiet.push(resolve));
    if (this.openSavepoints.size > 0) this.blame(openTransaction());
  }

  private async admit<Result>(text: string, send: () => Promise<Result>): Promise<Result> {
    // A part of what the handler wanted to write is missing: what came in time must not be committed without it.
    if (this.phase === 'closed') throw this.blame(lateQuery());
    if (this.phase === 'opening') {
      if (text === 'START TRANSACTION') return (await this.begin()) as Result;
      if (text.startsWith('SET TRANSACTION ISOLATION LEVEL')) return undefined as Result;
    }
    this.forbidControl(text);
    const savepoint = TYPEORM_SAVEPOINT.exec(text);
    if (savepoint?.[1] === 'SAVEPOINT') this.openSavepoints.add(savepoint[2]!);
    this.inFlight++;
    try {
      if (this.speaking) await this.speaking;
      return await send();
    } catch (error) {
      this.metConflict ||= isConflict(error);
      throw error;
    } finally {
      if (savepoint && savepoint[1] !== 'SAVEPOINT') this.openSavepoints.delete(savepoint[2]!);
      this.inFlight--;
      if (this.inFlight === 0) for (const resolve of this.onQuiet.splice(0)) resolve();
    }
  }

  private blame(fault: Error): Error {
    this.firstFault ??= fault;
    return fault;
  }
}

function control(): Error {
  return workBroken(
    'The handler tried to begin, commit or roll back the transaction that the library holds for it. ' +
      'Throw to roll back, return to commit; use `manager.transaction()` for a part that may fail on its own.',
  );
}

function release(): Error {
  return workBroken('The handler tried to release the connection that the library holds for it. Just return.');
}

function openTransaction(): Error {
  return workBroken(
    'The handler returned while a nested transaction was still open. Await every `manager.transaction()`.',
  );
}

function lateQuery(): Error {
  return workBroken(
    'A query was made through the shared manager after the work was over; it was not sent. ' +
      'Await every query before the handler returns or writes its answer.',
  );
}
