import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually, gate } from './gate.js';
import type { Answer } from './listening.js';
import { Logbook } from './listening.js';
import { pay, prepareDatabase, startWorkApp } from './work-app.js';
import { Witness } from './witness.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let witness: Witness;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  witness = await Witness.of(database.url);
});

afterAll(async () => {
  await witness?.close();
  await database?.drop();
});

describe('closing the application while work runs', () => {
  it('takes nothing new, and finishes, records and answers what runs before the pool closes', async () => {
    const app = await startWorkApp({ url: database.url });
    const key = randomUUID();
    const [entered, go] = [gate(), gate()];
    const running = app.attempt(async (manager, run) => {
      await pay(manager, run, 'before');
      entered.open();
      await go.passed;
      await pay(manager, run, 'after');
      return { paid: true };
    }, key);
    await entered.passed;
    let isClosed = false;
    const closing = app.app.close().then(() => (isClosed = true));

    const refused = await eventually<Answer | 'no connection'>('new requests are refused', async () => {
      const answer = await app
        .attempt((manager, run) => pay(manager, run, 'new'), randomUUID())
        .catch(() => 'no connection' as const);
      return answer !== 'no connection' && answer.status === 201 ? null : answer;
    });
    if (refused !== 'no connection') {
      expect(refused.status).toBe(503);
      expect(JSON.parse(refused.body)).toMatchObject({ code: 'idempotency-shutting-down', retryable: true });
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
    }
    expect([isClosed, await witness.payments(key)]).toEqual([false, []]);

    go.open();
    const answer = await running;
    expect([answer.status, answer.body]).toEqual([201, '{"paid":true}']);
    await closing;
    expect(await witness.payments(key)).toEqual(['after', 'before']);
    await app.witness.close();

    const next = await startWorkApp({ url: database.url });
    const replay = await next.attempt(() => 'never', key);
    expect([replay.status, replay.body, replay.headers.get('Idempotent-Replayed')]).toEqual([
      201,
      '{"paid":true}',
      'true',
    ]);
    await next.stop();
  });

  it('leaves no session behind, also where leases were renewed', async () => {
    const app = await startWorkApp({ url: database.url, idempotency: { leaseMs: 300 } });
    const key = randomUUID();
    const [entered, go] = [gate(), gate()];
    const running = app.attempt(async (manager, run) => {
      entered.open();
      await go.passed;
      await manager.query('SELECT 1');
      await pay(manager, run, 'paid');
    }, key);
    await entered.passed;
    await eventually('the lease is renewed', async () => {
      const rows = await witness.rows(
        `SELECT FROM idempotency_records WHERE key = $1 AND locked_until > locked_at + interval '300 ms'`,
        key,
      );
      return rows.length > 0;
    });
    go.open();
    await running;
    await app.stop();
    await eventually('no session is left', async () => {
      const rows = await witness.rows(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND backend_type = 'client backend'`,
      );
      return rows.length === 0;
    });
  });

  it('waits no longer than it was told to, says so, and lets no half payment through', async () => {
    const logbook = new Logbook();
    const app = await startWorkApp({ url: database.url, logbook, idempotency: { shutdownTimeoutMs: 200 } });
    const key = randomUUID();
    const [entered, go] = [gate(), gate()];
    const running = app.attempt(async (manager, run) => {
      await pay(manager, run, 'debit');
      entered.open();
      await go.passed;
      await pay(manager, run, 'credit');
      return { paid: true };
    }, key);
    await entered.passed;
    const closing = app.app.close();
    await eventually('it has waited long enough', () => logbook.complaints('work still under way').length > 0);
    go.open();
    const answer = await running.catch(() => null);
    await closing;
    const payments = await witness.payments(key);
    expect(payments).toEqual(answer?.status === 201 ? ['credit', 'debit'] : []);
    await app.witness.close();
  });
});
