import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { IdempotencyService, IdempotentOperations } from 'nestjs-idempotency';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { onServer } from '../database/server.js';
import { pay, prepareDatabase, startWorkApp } from '../module/work-app.js';
import { keepsItsPromise } from './keeps-its-promise.js';

jest.setTimeout(60_000);

/** A database of this spec, set as an operator may have set it. */
function databaseWith(settings: Record<string, string>): () => TestDatabase {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    await prepareDatabase(database.url);
    await onServer(async (client) => {
      for (const [name, value] of Object.entries(settings)) {
        await client.query(`ALTER DATABASE ${database.name} SET ${name} = '${value}'`);
      }
    });
  });

  afterAll(() => database?.drop());

  return () => database;
}

describe.each(['serializable', 'repeatable read'])('in a database whose transactions are %s', (isolation) => {
  const database = databaseWith({ default_transaction_isolation: isolation });
  keepsItsPromise(() => ({ url: database().url }));

  it('operations beside each other do not get in each other’s way', async () => {
    const app = await startWorkApp({ url: database().url });
    try {
      const keys = Array.from({ length: 40 }, () => randomUUID());
      const answers = await Promise.all(
        keys.map((key) => app.attempt((manager, run) => pay(manager, run, 'paid'), key)),
      );
      expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 201));
      const again = await Promise.all(keys.map((key) => app.post('/work', { key })));
      expect(again.map(({ headers }) => headers.get('Idempotent-Replayed'))).toEqual(keys.map(() => 'true'));
    } finally {
      await app.stop();
    }
  });

  it('what is written of an outside call gives way to others, and is written again', async () => {
    const app = await startWorkApp({
      url: database().url,
      idempotency: { providerKeySecret: 'the secret of the tests' },
    });
    try {
      // The first try of each statement fails; an insert that may update calls twice.
      await app.witness.rows(`
        CREATE SEQUENCE written;
        CREATE FUNCTION yield() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF nextval('written') % 3 = 1 THEN RAISE SQLSTATE '40001'; END IF;
          RETURN NULL;
        END $$;
        CREATE TRIGGER yield BEFORE INSERT OR UPDATE ON idempotency_steps EXECUTE FUNCTION yield()`);
      let calls = 0;
      const request = { endpoint: 'charges', key: randomUUID(), payload: {}, transaction: 'manual' } as const;
      await app.app.get(IdempotencyService).run(request, async (operation) => {
        const charge = await operation.step('charge', () => Promise.resolve(`charged ${++calls}`));
        return operation.commit((manager) => pay(manager, operation.key, charge));
      });
      expect([calls, await app.witness.payments(request.key)]).toEqual([1, ['charged 1']]);
      expect(await app.witness.rows('SELECT last_value = 5 AS has_yielded FROM written')).toEqual([
        { has_yielded: true },
      ]);
    } finally {
      await app.witness.rows('DROP TRIGGER IF EXISTS yield ON idempotency_steps');
      await app.stop();
    }
  });
});

describe('in a database that writes values in ways of its own', () => {
  const database = databaseWith({
    TimeZone: 'Asia/Kolkata',
    DateStyle: 'SQL, DMY',
    IntervalStyle: 'sql_standard',
    bytea_output: 'escape',
    extra_float_digits: '-5',
  });
  keepsItsPromise(() => ({ url: database().url }));

  it('a sweep goes on where it was', async () => {
    const app = await startWorkApp({ url: database().url, idempotency: { sweep: false } });
    try {
      // More than a batch of it.
      await app.witness.rows(
        `INSERT INTO idempotency_records (tenant, endpoint, key, state, fingerprint, created_at, expires_at)
         SELECT 'swept', 'swept', n::text, 'completed', '', now() - interval '2 days', now() - n * interval '1 second'
         FROM generate_series(1, 1200) AS n`,
      );
      expect(await app.app.get(IdempotentOperations).sweep()).toBe(1200);
    } finally {
      await app.stop();
    }
  });
});

describe('in a database that commits before it has written', () => {
  const database = databaseWith({ synchronous_commit: 'off' });

  it('an outside call is announced, and its result kept, by commits that wait for the disk', async () => {
    const app = await startWorkApp({
      url: database().url,
      idempotency: { providerKeySecret: 'the secret of the tests' },
    });
    try {
      // Asked when the transaction commits: what counts is what is set by then.
      await app.witness.rows(`
        CREATE TABLE commits (wrote text, synchronous text);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO commits VALUES (
            CASE WHEN NEW.result IS NULL THEN 'intent' ELSE 'result' END, current_setting('synchronous_commit'));
          RETURN NULL;
        END $$;
        CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON idempotency_steps
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()`);
      const request = { endpoint: 'charges', key: randomUUID(), payload: {}, transaction: 'manual' } as const;
      await app.app.get(IdempotencyService).run(request, async (operation) => {
        await operation.step('charge', () => Promise.resolve('charged'));
        return operation.commit((manager) => pay(manager, operation.key, 'paid'));
      });
      expect(await app.witness.rows('SELECT * FROM commits')).toEqual([
        { wrote: 'intent', synchronous: 'on' },
        { wrote: 'result', synchronous: 'on' },
      ]);
      expect(await app.witness.rows('SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'off' }]);
    } finally {
      await app.stop();
    }
  });
});

describe('in a database that only reads', () => {
  const database = databaseWith({ default_transaction_read_only: 'on' });

  it.each(['lease', 'transaction'] as const)('nothing is done, claimed by %s', async (claim) => {
    const app = await startWorkApp({ url: database().url, idempotency: { claim } });
    try {
      const key = randomUUID();
      const { status, body } = await app.attempt((manager, run) => pay(manager, run, 'paid'), key);
      expect([status, JSON.parse(body)]).toEqual([
        503,
        expect.objectContaining({ code: 'idempotency-store-unavailable' }),
      ]);
      expect([app.runsOf(key), await app.witness.payments(key)]).toEqual([0, []]);
    } finally {
      await app.stop();
    }
  });
});
