import { AsyncLocalStorage } from 'node:async_hooks';

/** A transaction, for those that are begun inside it. */
interface Level {
  readonly owner: NestedTransactions;
  /** Over when the last transaction that was begun at this level is. */
  last: Promise<unknown>;
}

const level = new AsyncLocalStorage<Level>();

/**
 * Runs the nested transactions of one connection properly nested.
 *
 * Savepoints form a stack. Two that are begun side by side, as by `Promise.all`, would release and roll back each
 * other's; here the second begins when the first is over.
 */
export class NestedTransactions {
  private readonly outermost: Level = { owner: this, last: Promise.resolve() };

  run<Result>(transaction: () => Promise<Result>): Promise<Result> {
    const around = level.getStore();
    const parent = around?.owner === this ? around : this.outermost;
    const own: Level = { owner: this, last: Promise.resolve() };
    const running = parent.last.then(() => level.run(own, transaction));
    parent.last = running.catch(() => undefined);
    return running;
  }
}
