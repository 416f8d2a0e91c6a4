import { type EntityManager, In } from 'typeorm';
import { Account, type AccountKind } from './account.entity.js';
import { unknownAccount } from './account-problems.js';

/**
 * Locks the two accounts of a transfer, by default of customers, until the transaction ends, and returns them as they are then.
 *
 * The rows are locked in the order of their ids, whoever pays whom, so that transfers in opposite directions wait for
 * each other instead of deadlocking. Do this before inserting rows that refer to the accounts: a foreign key takes a
 * lock of its own, in whatever order it likes.
 */
export async function lockAccounts(
  manager: EntityManager,
  merchantId: string,
  ids: readonly [from: string, to: string],
  kinds: readonly AccountKind[] = ['customer'],
): Promise<[from: Account, to: Account]> {
  const accounts = await manager.find(Account, {
    where: { merchantId, id: In(ids), kind: In(kinds) },
    order: { id: 'ASC' },
    lock: { mode: 'pessimistic_write' },
  });
  const locked = (id: string): Account => {
    const account = accounts.find((candidate) => candidate.id === id);
    if (!account) throw unknownAccount(id);
    return account;
  };
  return [locked(ids[0]), locked(ids[1])];
}
