import type { CallHandler } from '@nestjs/common';
import { lastValueFrom, type Observable, of } from 'rxjs';
import type { DataSource, EntityManager } from 'typeorm';

import type { Isolation } from '../core/attempt.js';
import { gaveWay, storeUnavailable } from '../core/errors.js';
import type { Report } from '../core/ports.js';
import { Connection, type ConnectionOptions } from '../storage/connection.js';
import type { JoinedTransactions } from '../storage/joined-transactions.js';
import { isConflict, isConnectionLost } from '../storage/postgres-errors.js';
import { type AttemptContext, runInAttempt } from './attempt-context.js';

/** A request without a key, where none is required: an ordinary transaction, nothing claimed and nothing recorded. */
class UnprotectedRun implements AttemptContext {
  readonly operation = null;
  readonly handle = null;
  isOver = false;
  readonly signal = new AbortController().signal;
  readonly callbacks: (() => unknown)[] = [];

  constructor(readonly manager: EntityManager) {}

  afterCommit(callback: () => unknown): void {
    this.callbacks.push(callback);
  }

  enter(): void {
    // Nothing was claimed that would have to know.
  }
}

export interface UnprotectedTerms {
  readonly connection: ConnectionOptions;
  readonly isolation: Isolation;
  /** Where transactions that are managed by other means join this one. */
  readonly joined: JoinedTransactions | undefined;
}

/** Runs the handler in a transaction that commits when it returns. */
export async function runUnprotected(
  dataSource: DataSource,
  { connection: options, isolation, joined }: UnprotectedTerms,
  next: CallHandler,
  report: Report,
): Promise<Observable<unknown>> {
  const connection = await Connection.checkOut(dataSource, options).catch((error: unknown) => {
    throw storeUnavailable(error);
  });
  let run: UnprotectedRun | undefined;
  let hasReturned = false;
  let ended!: (isCommitted: boolean) => void;
  const committed = new Promise<boolean>((resolve) => (ended = resolve));
  try {
    const value: unknown = await connection.runner.manager.transaction(isolation, async (manager) => {
      const begun = (run = new UnprotectedRun(manager));
      const handle = () => lastValueFrom(next.handle() as Observable<unknown>, { defaultValue: undefined });
      const returned = await runInAttempt(begun, () => (joined ? joined.run(manager, committed, handle) : handle()));
      hasReturned = true;
      return returned;
    });
    ended(true);
    for (const callback of run?.callbacks ?? []) void callAfterCommit(callback, report);
    return of(value);
  } catch (error) {
    // Where COMMIT was not answered nobody knows, and nobody is told.
    if (!hasReturned || !isConnectionLost(error)) ended(false);
    if (isConflict(error)) throw gaveWay(error);
    throw run ? error : storeUnavailable(error);
  } finally {
    if (run) run.isOver = true;
    connection.close();
  }
}

async function callAfterCommit(callback: () => unknown, report: Report): Promise<void> {
  try {
    await callback();
  } catch (error) {
    report('A callback registered with afterCommit() failed; the work itself is committed.', error);
  }
}
