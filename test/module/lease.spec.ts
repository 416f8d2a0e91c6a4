import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { IdempotencyContext } from 'nestjs-idempotency';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually, type Gate, gate } from './gate.js';
import { pay, prepareDatabase, startWorkApp, type Work, type WorkApp } from './work-app.js';

jest.setTimeout(60_000);

const LEASE_MS = 5_000;

let database: TestDatabase;
let app: WorkApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  app = await startWorkApp({
    url: database.url,
    idempotency: { leaseMs: LEASE_MS },
  });
});

afterAll(async () => {
  await app?.stop();
  await database?.drop();
});

interface Held {
  readonly work: Work;
  readonly entered: Gate;
  readonly go: Gate;
}

/** Work that waits inside until it is told to go on. */
function held(before: Work = () => undefined): Held {
  const [entered, go] = [gate(), gate()];
  const work: Work = async (manager, run) => {
    await before(manager, run);
    await pay(manager, run, 'before');
    entered.open();
    await go.passed;
    await pay(manager, run, 'after');
    return { run };
  };
  return { work, entered, go };
}

describe('a lease', () => {
  it('is not renewed any more once its work is recorded', async () => {
    const key = randomUUID();
    await app.attempt((manager, run) => pay(manager, run, 'paid'), key);
    const rows = await app.witness.rows('SELECT state, locked_until FROM idempotency_records WHERE key = $1', key);
    expect(rows).toEqual([{ state: 'completed', locked_until: null }]);
  });

  it('aborts the signal of its work when the claim was taken over, and the work is undone', async () => {
    const key = randomUUID();
    const context = app.app.get(IdempotencyContext);
    let signal: AbortSignal | undefined;
    const { work, entered, go } = held(() => {
      signal = context.signal;
    });
    const first = app.attempt(work, key);
    await entered.passed;
    expect(signal!.aborted).toBe(false);
    await app.witness.rows('UPDATE idempotency_records SET token = gen_random_uuid() WHERE key = $1', key);
    await eventually('the signal is aborted', () => signal!.aborted);
    expect(signal!.reason).toMatchObject({ code: 'idempotency-work-broken' });
    go.open();
    expect((await first).status).toBe(409);
    expect(await app.witness.payments(key)).toEqual([]);
  });

  it('gives the client of a lost claim the recording of the winner', async () => {
    const key = randomUUID();
    const loser = held();
    const first = app.attempt(loser.work, key);
    await loser.entered.passed;
    await app.witness.rows(
      `UPDATE idempotency_records SET locked_until = now() - interval '1 hour', token = gen_random_uuid() WHERE key = $1`,
      key,
    );
    const winner = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'winner');
      return { by: 'winner' };
    }, key);
    expect([winner.status, winner.body]).toEqual([201, '{"by":"winner"}']);
    loser.go.open();
    const answer = await first;
    expect([answer.status, answer.body, answer.headers.get('Idempotent-Replayed')]).toEqual([
      201,
      '{"by":"winner"}',
      'true',
    ]);
    expect([app.runsOf(key), await app.witness.payments(key)]).toEqual([2, ['winner']]);
  });

  it('runs out when its worker no longer renews it: another takes over, and only one commits', async () => {
    const key = randomUUID();
    const { work, entered, go } = held();
    const first = app.attempt(work, key);
    await entered.passed;
    // Whoever renews finds nothing to renew: as if the process had been paused beyond its lease.
    const second = await eventually('the claim is taken over', async () => {
      await app.witness.rows(`UPDATE idempotency_records SET locked_until = NULL WHERE key = $1`, key);
      const answer = await app.attempt((manager, run) => pay(manager, run, 'second'), key);
      return answer.status === 409 ? null : answer;
    });
    expect(second.status).toBe(201);
    go.open();
    const late = await first;
    expect([late.status, late.headers.get('Idempotent-Replayed')]).toEqual([201, 'true']);
    expect(await app.witness.payments(key)).toEqual(['second']);
  });
});
