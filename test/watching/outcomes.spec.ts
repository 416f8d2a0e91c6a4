import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { HttpException, UnprocessableEntityException } from '@nestjs/common';
import { IdempotencyError, type IdempotentOperation, type OutcomeEvent, type OutcomeName } from 'nestjs-idempotency';

import { OUTCOMES } from '../../libs/idempotency/src/core/outcome.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { DatabaseProxy } from '../faults/database-proxy.js';
import { eventually, gate } from '../module/gate.js';
import { pay, prepareDatabase, type Work } from '../module/work-app.js';
import { startWatchedApp, type WatchedApp } from './watched-app.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let proxy: DatabaseProxy;
let app: WatchedApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  proxy = await DatabaseProxy.to(database.url);
  app = await startWatchedApp({ url: database.url, appUrl: proxy.url });
});

afterAll(async () => {
  await app?.stop();
  await proxy?.close();
  await database?.drop();
});

const paying: Work = (manager, run) => pay(manager, run, 'paid').then(() => ({ run }));
const cutOff = (operation: IdempotentOperation): Promise<unknown> =>
  operation.step('charge', () => Promise.reject(new Error('Cut off.')));
const GIVE_WAY = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$";

/** How each outcome comes about; resolves to how many attempts that took, the last of which came to it. */
const CAUSES: Record<OutcomeName, () => Promise<number>> = {
  executed: () => attempts(() => app.attempt(paying)),
  refused_on_record: () => attempts(() => app.attempt(() => Promise.reject(new UnprocessableEntityException()))),
  replayed: () => twice((key) => app.attempt(paying, key)),
  in_progress: async () => {
    const key = randomUUID();
    const [entered, go] = [gate(), gate()];
    const work: Work = () => {
      entered.open();
      return go.passed;
    };
    const first = app.attempt(work, key);
    await entered.passed;
    await app.post('/work', { key });
    go.open();
    await first;
    // It was told of before the one that it had to give way to.
    app.events.reverse();
    return 2;
  },
  mismatch: () => twice((key, time) => app.post('/strict', { key, body: { amount: time } })),
  expired: () => changed(`response_omitted = 'expired', response_headers = NULL, response_body = NULL`),
  incomparable: () => changed('fingerprint = set_byte(fingerprint, 0, 99)'),
  replay_forbidden: () => twice((key) => app.post('/private', { key })),
  response_unavailable: () => twice((key) => app.attempt(() => 'x'.repeat(1024 * 1024 + 1), key)),
  key_missing: () => attempts(() => app.post('/work')),
  key_invalid: () => attempts(() => app.post('/work', { key: 'two words' })),
  payload_unsupported: () => attempts((key) => app.post('/work', { key, headers: { 'Content-Type': 'text/plain' } })),
  payload_invalid: () => {
    let body: unknown = {};
    for (let depth = 0; depth < 600; depth++) body = [body];
    return attempts((key) => app.post('/work', { key, body }));
  },
  scope_unresolved: () => attempts((key) => app.post('/work', { key, headers: { 'X-Tenant': 'none' } })),
  fingerprint_failed: () => attempts((key) => app.post('/compared', { key })),
  denied: () => attempts((key) => app.post('/work', { key, headers: { 'X-Tenant': 'unknown' } })),
  refused: () => attempts(() => app.attempt(() => Promise.reject(new HttpException('Not so fast.', 429)))),
  failed: () => attempts(() => app.attempt(() => Promise.reject(new Error('The ledger is closed.')))),
  not_entered: () => attempts((key) => app.post('/strict', { key, body: { amount: 'much' } })),
  work_conflict: () => attempts(() => app.attempt((manager) => manager.query(GIVE_WAY))),
  work_broken: () => attempts(() => app.attempt((manager) => manager.query('SELECT 1 / 0').catch(() => 'swallowed'))),
  outcome_unknown: () => attempts((key) => app.play(key, cutOff)),
  undecided: async () => {
    await app.witness.rows('DELETE FROM idempotency_steps');
    const key = randomUUID();
    await app.play(key, cutOff);
    await app.witness.rows('UPDATE idempotency_records SET locked_until = NULL WHERE key = $1', key);
    await app.witness.rows(`UPDATE idempotency_steps SET intended_at = intended_at - interval '1 hour'`);
    app.reconcileBy(key, () => Promise.resolve(null));
    await app.operations.reconcile();
    return 2;
  },
  lost: () =>
    attempts((key) =>
      app.attempt(async (manager, run) => {
        await pay(manager, run, 'undone');
        await app.witness.rows('UPDATE idempotency_records SET token = gen_random_uuid() WHERE key = $1', key);
      }, key),
    ),
  commit_unknown: () =>
    attempts(async () => {
      await app.attempt(async (manager, run) => {
        await pay(manager, run, 'undone');
        await proxy.refuse();
      });
      await proxy.heal();
    }),
  store_unavailable: () =>
    attempts(async () => {
      await proxy.refuse();
      await app.attempt(paying);
      await proxy.heal();
    }),
  unprotected: () => attempts(() => app.post('/open')),
  shutting_down: async () => {
    const stopping = app.app.close();
    let runs = 0;
    const request = { tenant: 'acme', endpoint: 'jobs', payload: {} };
    const run = (): Promise<unknown> => app.service.run({ ...request, key: `job ${++runs}` }, () => 'done');
    await eventually('no new work is taken', async () => {
      const error: unknown = await run().catch((thrown: unknown) => thrown);
      return error instanceof IdempotencyError;
    });
    await stopping;
    return runs;
  },
};

/** A key of its own, for one attempt. */
async function attempts(attempt: (key: string) => Promise<unknown>): Promise<number> {
  await attempt(randomUUID());
  return 1;
}

async function twice(attempt: (key: string, time: number) => Promise<unknown>): Promise<number> {
  const key = randomUUID();
  await attempt(key, 1);
  await attempt(key, 2);
  return 2;
}

/** Twice, while somebody changes the row in between. */
function changed(change: string): Promise<number> {
  return twice(async (key, time) => {
    if (time === 2) await app.witness.rows(`UPDATE idempotency_records SET ${change} WHERE key = $1`, key);
    await app.attempt(paying, key);
  });
}

/** What the caller is told, where its name is another one than that of the outcome. */
const CODES: Partial<Record<OutcomeName, OutcomeEvent['error']>> = {
  in_progress: 'idempotency-request-in-progress',
  mismatch: 'idempotency-key-reused',
  expired: 'idempotency-key-expired',
  incomparable: 'idempotency-store-unavailable',
  commit_unknown: 'idempotency-store-unavailable',
};

/** Outcomes of which the library tells the caller nothing. */
const UNTOLD = new Set<OutcomeName>([
  ...(['executed', 'refused_on_record', 'replayed', 'denied', 'refused', 'failed'] as const),
  ...(['not_entered', 'undecided', 'lost', 'unprotected'] as const),
]);

describe('an attempt', () => {
  // The one that ends the application comes last.
  const others = OUTCOMES.filter((name) => name !== 'shutting_down');

  it.each([...others, 'shutting_down'] as const)(
    'is told of once, and as %s where it came to that',
    async (outcome) => {
      app.events.length = 0;
      const attempted = await CAUSES[outcome]();
      expect(app.events).toHaveLength(attempted);
      const { error, ...event } = app.events.at(-1)!;
      expect(event.outcome).toBe(outcome);
      const code = CODES[outcome] ?? `idempotency-${outcome.replaceAll('_', '-')}`;
      expect(error).toBe(UNTOLD.has(outcome) ? undefined : code);
    },
  );
});
