import { randomUUID } from 'node:crypto';
import { ConflictException } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { expectWorkConflict } from '../faults/problem.js';
import { gate } from './gate.js';
import { pay, prepareDatabase, startWorkApp, type Work, type WorkApp } from './work-app.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let app: WorkApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  app = await startWorkApp({ url: database.url });
});

afterAll(async () => {
  await app?.stop();
  await database?.drop();
});

const raise = (state: string): string => `DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '${state}'; END $$`;

async function expectRetryRuns(key: string): Promise<void> {
  expect(await app.witness.payments(key)).toEqual([]);
  const retry = await app.attempt((manager, run) => pay(manager, run, 'retried'), key);
  expect([retry.status, retry.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
  expect(await app.witness.payments(key)).toEqual(['retried']);
}

describe('two handlers that deadlock', () => {
  it('end in one commit and one 503 with Retry-After, whose retry runs', async () => {
    const run = randomUUID();
    await app.witness.rows(`INSERT INTO payments (run, label) VALUES ($1, 'a'), ($1, 'b')`, run);
    const [firstHasOne, secondHasOne] = [gate(), gate()];
    const crossing =
      (mine: string, theirs: string, have: () => void, wait: Promise<void>): Work =>
      async (manager) => {
        await manager.query('UPDATE payments SET amount = amount + 1 WHERE run = $1 AND label = $2', [run, mine]);
        have();
        await wait;
        await manager.query('UPDATE payments SET amount = amount + 1 WHERE run = $1 AND label = $2', [run, theirs]);
      };
    const keys = [randomUUID(), randomUUID()];
    const answers = await Promise.all([
      app.attempt(crossing('a', 'b', firstHasOne.open, secondHasOne.passed), keys[0]),
      app.attempt(crossing('b', 'a', secondHasOne.open, firstHasOne.passed), keys[1]),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 503]);
    const amounts = () => app.witness.rows('SELECT label, amount FROM payments WHERE run = $1 ORDER BY label', run);
    expect(await amounts()).toEqual([
      { label: 'a', amount: 2 },
      { label: 'b', amount: 2 },
    ]);
    const loser = answers.findIndex(({ status }) => status === 503);
    expectWorkConflict(answers[loser]!);
    const retry = await app.attempt(
      (manager) => manager.query('UPDATE payments SET amount = amount + 1 WHERE run = $1', [run]),
      keys[loser],
    );
    expect([retry.status, retry.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
    expect(await amounts()).toEqual([
      { label: 'a', amount: 3 },
      { label: 'b', amount: 3 },
    ]);
  });
});

describe.each([
  ['a serialization failure', '40001'],
  ['a deadlock', '40P01'],
])('%s of the handler', (_, state) => {
  it('is answered 503 with Retry-After, and the retry runs', async () => {
    const key = randomUUID();
    const answer = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'undone');
      await manager.query(raise(state));
    }, key);
    expectWorkConflict(answer);
    await expectRetryRuns(key);
  });

  it('is answered 503 also when it comes from a nested transaction', async () => {
    const key = randomUUID();
    const answer = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'undone');
      await manager.transaction((nested) => nested.query(raise(state)));
    }, key);
    expectWorkConflict(answer);
    await expectRetryRuns(key);
  });

  it('is not recorded when the handler turns it into a refusal of its own', async () => {
    const key = randomUUID();
    const { status } = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'undone');
      await manager.query(raise(state)).catch((cause: unknown) => {
        throw new ConflictException('busy', { cause });
      });
    }, key);
    expect([409, 503]).toContain(status);
    await expectRetryRuns(key);
  });

  it('is answered 503 when only the COMMIT finds it', async () => {
    const name = `late_${state}`;
    await app.witness.rows(
      `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '${state}'; END $$`,
    );
    await app.witness.rows(
      `CREATE CONSTRAINT TRIGGER ${name} AFTER INSERT ON payments DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW WHEN (NEW.label = 'late ${state}') EXECUTE FUNCTION ${name}()`,
    );
    const key = randomUUID();
    expectWorkConflict(await app.attempt((manager, run) => pay(manager, run, `late ${state}`), key));
    await expectRetryRuns(key);
  });
});

describe("a unique violation in the handler's own table", () => {
  it("is the handler's error, not a duplicate in progress", async () => {
    const key = randomUUID();
    const { status } = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'twice');
      await pay(manager, run, 'twice');
    }, key);
    expect(status).toBe(500);
    await expectRetryRuns(key);
  });
});
