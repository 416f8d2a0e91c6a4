import type { IdempotencyContext, IdempotentOperation } from 'nestjs-idempotency';
import type { EntityManager } from 'typeorm';

import { pay } from '../module/work-app.js';
import type { Clerk } from './clerk.js';

/** What a handler has at hand. */
export interface Scene {
  readonly clerk: Clerk;
  /** The library's own, as the handler is given it. */
  readonly manager: EntityManager;
  readonly context: IdempotencyContext;
  /** What its payments are marked with. */
  readonly run: string;
  /** How often the handler has been run under this mark. */
  readonly runs: number;
  /** Sends a statement past every transaction. */
  elsewhere(sql: string, ...values: unknown[]): Promise<unknown>;
  /** Does this when the work is sealed and not recorded yet, and has that wait for it. */
  afterSeal(act: () => Promise<unknown>): void;
}

/** What handlers do, by name. */
const WORKS = {
  /** Pays by every way, and tells in which transactions the first and the last of them were. */
  pays: async ({ clerk, manager, run }) => {
    const first = await transactionOf(manager);
    await clerk.pay(run, 'joined');
    await clerk.payInside(run, 'mandatory');
    await pay(clerk.manager(), run, 'plain');
    await pay(manager, run, 'shared');
    return [first, await transactionOf(clerk.manager())];
  },
  fails: async ({ clerk, run }) => {
    await clerk.pay(run, 'joined');
    await clerk.payInside(run, 'mandatory');
    throw new Error('The handler failed.');
  },
  commits: async ({ clerk, run }) => {
    await clerk.pay(run, 'joined');
    await clerk.manager().query('COMMIT');
  },
  comesLate: async ({ clerk, run, afterSeal }) => {
    await clerk.pay(run, 'in time');
    afterSeal(() => clerk.pay(run, 'late'));
    return {};
  },
  losesItsClaim: async ({ clerk, run, elsewhere }) => {
    await clerk.pay(run, 'joined');
    await elsewhere('UPDATE idempotency_records SET token = gen_random_uuid() WHERE key = $1', run);
  },
  givesWay: async ({ clerk, run, runs, elsewhere }) => {
    clerk.watch?.(noteOf(`run ${runs}`, run, elsewhere));
    await clerk.pay(run, `run ${runs}`);
    if (runs === 1) await clerk.manager().query(`DO $$ BEGIN RAISE SQLSTATE '40001'; END $$`);
  },
  paysApart: async ({ clerk, run }) => {
    await clerk.pay(run, 'joined');
    await clerk.payApart(run, 'apart');
    throw new Error('The handler failed.');
  },
  nests: async ({ clerk, run }) => {
    await clerk.pay(run, 'joined');
    await clerk.payNested(run, 'nested');
    await clerk.payNested(run, 'failed', true).catch(() => undefined);
    await clerk.payInside(run, 'after');
  },
  paysAfterCommit: async ({ clerk, run, context }) => {
    await clerk.pay(run, 'joined');
    context.afterCommit(() => clerk.pay(run, 'after'));
  },
  watches: async ({ clerk, run, elsewhere }) => {
    await clerk.pay(run, 'joined');
    clerk.watch?.(noteOf('watched', run, elsewhere));
  },
  watchesAndFails: async ({ clerk, run, elsewhere }) => {
    await clerk.pay(run, 'joined');
    clerk.watch?.(noteOf('watched', run, elsewhere));
    throw new Error('The handler failed.');
  },
} satisfies Record<string, (scene: Scene) => unknown>;

export type WorkName = keyof typeof WORKS;

export function perform(work: WorkName, scene: Scene): unknown {
  return WORKS[work](scene);
}

/** Calls a provider, and pays inside the commit alone; the first time that commit fails. */
export async function charge(operation: IdempotentOperation, { clerk, run, runs }: Omit<Scene, 'manager'>) {
  const charged = await operation.step('charge', () => Promise.resolve('charged'));
  const payBefore = async (): Promise<string> => {
    await clerk.payInside(run, 'before');
    return 'paid before the commit';
  };
  const before = await payBefore().catch(() => 'nothing to join before the commit');
  return operation.commit(async (manager) => {
    await clerk.payInside(run, charged);
    if (runs === 1) throw new Error('The commit failed.');
    return [before, await transactionOf(manager), await transactionOf(clerk.manager())];
  });
}

/** Every transaction has a number of its own. */
async function transactionOf(manager: EntityManager): Promise<string> {
  const [row] = await manager.query<{ id: string }[]>('SELECT txid_current()::text AS id');
  return row!.id;
}

/** Notes an end among the payments, with how many of the run's others can be seen from elsewhere by then. */
function noteOf(what: string, run: string, elsewhere: Scene['elsewhere']) {
  return (end: string): Promise<unknown> =>
    elsewhere(
      `INSERT INTO payments (run, label)
       SELECT $1, $2 || count(*) FROM payments WHERE run = $1`,
      run,
      `${what}: ${end}, seeing `,
    );
}
