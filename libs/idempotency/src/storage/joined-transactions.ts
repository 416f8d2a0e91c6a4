import { AsyncLocalStorage } from 'node:async_hooks';

import type { DataSource, EntityManager } from 'typeorm';

import { workBroken } from '../core/errors.js';

/**
 * Opens a transaction of the data source by other means than the library's, and runs the work in it.
 *
 * It is called once for each transaction of the library's, runs its work once, and is given that transaction in place
 * of the one it asks for.
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

  constructor(
    { manager }: DataSource,
    private readonly opener: TransactionOpener,
  ) {
    const transaction = manager.transaction.bind(manager) as Transaction;
    manager.transaction = (...args: unknown[]) => {
      const lent = this.loans.getStore()?.take();
      return lent ? inside(lent, args) : transaction(...args);
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
      const joined = async (): Promise<Result> => {
        if (!loan.isTaken) throw notJoined();
        if (working) throw workBroken('`joinedBy` ran its work twice. Let it be run once, without retries.');
        working = new Promise((done) => done(work()));
        resolve(working);
        const isCommitted = await committed;
        const result = await working;
        if (!isCommitted) throw workBroken('The work was undone after it had returned.');
        return result;
      };
      const opening = this.loans.run(loan, () => new Promise((done) => done(this.opener(joined))));
      opening.then(() => reject(workBroken('`joinedBy` did not run its work. Let it call what it is given.')), reject);
    });
  }
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
    "`joinedBy` ran its work outside a new transaction of the library's data source: either it opened none, such as " +
      'where an interceptor outside had one open already, or it opened one of another data source.',
  );
}
