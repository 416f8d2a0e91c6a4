import { AsyncLocalStorage } from 'node:async_hooks';

import type { DataSource, EntityManager } from 'typeorm';

import { workBroken } from '../core/errors.js';
import type { Report } from '../core/ports.js';

/**
 * Opens a transaction of the data source by other means than the library's, runs the work in it, and resolves when
 * that transaction has ended.
 *
 * It is called once for each transaction of the library's, runs its work once, and is given that transaction in place
 * of the first one it asks for.
 */
export type TransactionOpener = (work: () => Promise<unknown>) => unknown;

type Transaction = (...args: unknown[]) => Promise<unknown>;

/** One open transaction, until somebody has asked for one. */
class Loan {
  isTaken = false;

  constructor(private readonly manager: EntityManager) {}

  take(): EntityManager | undefined {
    if (this.isTaken) return undefined;
    this.isTaken = true;
    return this.manager;
  }
}

/**
 * Lets code that manages its transactions by other means join those of the library.
 *
 * All of TypeORM's ways to a new transaction but a query runner of one's own go through the data source's manager: the
 * first one that the opener asks it for there is the one that is open already.
 */
export class JoinedTransactions {
  private readonly loans = new AsyncLocalStorage<Loan>();
  /** The loan whose transaction is the innermost that the running code is in. */
  private readonly entered = new AsyncLocalStorage<Loan>();

  constructor(
    { manager }: DataSource,
    private readonly opener: TransactionOpener,
    private readonly report: Report,
  ) {
    const transaction = manager.transaction.bind(manager) as Transaction;
    manager.transaction = (...args: unknown[]) => {
      const loan = this.loans.getStore();
      const lent = loan?.take();
      return lent ? this.entered.run(loan!, () => inside(lent, args)) : this.entered.exit(() => transaction(...args));
    };
  }

  /**
   * Runs the work inside the opener's transaction, which is `manager`'s; resolves or rejects with what comes of the
   * work.
   *
   * To the opener the transaction ends when `committed` says whether it was: until then it is open, so that whatever
   * comes late is turned away rather than written elsewhere.
   */
  run<Result>(
    manager: EntityManager,
    committed: Promise<boolean>,
    work: () => Promise<Result> | Result,
  ): Promise<Result> {
    const loan = new Loan(manager);
    return new Promise((resolve, reject) => {
      let working: Promise<Result> | undefined;
      let isCommitted = false;
      /** Nobody waits for what the opener was given, nor could be told of its failure. */
      let isLeft = false;
      const joined = async (): Promise<Result> => {
        if (isLeft) return never();
        if (working) throw workBroken('`joinedBy` ran its work twice. Let it be run once, without retries.');
        if (this.entered.getStore() !== loan) throw notJoined();
        working = new Promise((done) => done(work()));
        working.then(resolve, reject);
        isCommitted = await committed;
        if (isLeft) return never();
        const result = await working;
        if (!isCommitted) throw workBroken('The work was undone after it had returned.');
        return result;
      };
      const opening = this.loans.run(loan, () => new Promise((done) => done(this.opener(joined))));
      const leave = (error: Error): void => {
        isLeft = true;
        reject(error);
      };
      opening.then(
        () => leave(working ? returnedEarly() : notRun()),
        (error: Error) => {
          leave(error);
          if (isCommitted) this.report('`joinedBy` failed after the commit; the work itself is committed.', error);
        },
      );
    });
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** The arguments are an isolation, where one is asked for, and what is to run. */
async function inside(lent: EntityManager, [first, second]: unknown[]): Promise<unknown> {
  if (typeof first === 'function') return (first as Transaction)(lent);
  if (first === undefined) return (second as Transaction)(lent);
  throw workBroken(
    '`joinedBy` asks for an isolation, and is given a transaction that has one. Let it ask for none, such as ' +
      "`txHost.withTransaction({ isolationLevel: undefined }, work)`; `isolation` sets it where `claim` is 'transaction'.",
  );
}

function notJoined(): Error {
  return workBroken(
    "`joinedBy` ran its work outside the first new transaction of the library's data source: it opened none, such as " +
      'where an interceptor outside had one open already, or one of another data source, or another one before.',
  );
}

function notRun(): Error {
  return workBroken('`joinedBy` did not run its work. Let it call what it is given, and return when that is over.');
}

function returnedEarly(): Error {
  return workBroken('`joinedBy` returned while its work was under way. Let it return the promise of its transaction.');
}
