import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IdempotentOperations } from 'nestjs-idempotency';
import { Client } from 'pg';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { Logbook } from '../module/listening.js';
import { pay, prepareDatabase, startWorkApp, type WorkApp } from '../module/work-app.js';
import { shortly } from '../messages/shortly.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let app: WorkApp;
let logbook: Logbook;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
});

afterAll(() => database?.drop());

beforeEach(async () => {
  logbook = new Logbook();
  app = await startWorkApp({ url: database.url, idempotency: { sweep: false }, logbook });
  await app.witness.rows('TRUNCATE idempotency_records, idempotency_steps');
});

afterEach(() => app?.stop());

const sweep = (): Promise<number> => app.app.get(IdempotentOperations).sweep();

/** Records of the last hours, one every second. */
async function keep(count: number, columns: Readonly<Record<string, string>> = {}): Promise<void> {
  const given = {
    state: `'completed'`,
    locked_until: 'NULL',
    has_steps: 'false',
    expires_at: `now() - n * interval '1 s'`,
    ...columns,
  };
  await app.witness.rows(
    `INSERT INTO idempotency_records (tenant, endpoint, key, fingerprint, created_at, token, ${Object.keys(given).join(', ')})
     SELECT '', 'sweep', gen_random_uuid()::text, '\\x01', now() - interval '1 day', gen_random_uuid(), ${Object.values(given).join(', ')}
     FROM generate_series(1, $1::integer) AS n`,
    count,
  );
}

/** Past its retention, but not forgotten yet. */
const REMEMBERED = { expires_at: `now() + interval '1 day'`, replays_until: `now() - n * interval '1 s'` };

const ANSWERED = {
  response_status: '201',
  response_headers: `'[]'`,
  response_body: `'\\x00'`,
  resource: `'/payments/1'`,
};

async function tombstones(): Promise<number> {
  const [row] = await app.witness.rows<{ count: string }>(
    `SELECT count(*) FROM idempotency_records WHERE response_omitted = 'expired' AND response_headers IS NULL
       AND response_body IS NULL AND response_status = 201 AND resource = '/payments/1' AND fingerprint = '\\x01'`,
  );
  return Number(row!.count);
}

const left = async (): Promise<number> =>
  Number((await app.witness.rows<{ count: string }>('SELECT count(*) FROM idempotency_records'))[0]!.count);

describe('a sweep', () => {
  it('deletes what is past its retention, however many batches that takes', async () => {
    await keep(2_500);
    await keep(3, { expires_at: `now() + interval '1 h'` });
    expect(await sweep()).toBe(2_500);
    expect(await left()).toBe(3);
  });

  it('deletes what was begun and given up, past its retention', async () => {
    await keep(2, { state: `'in_progress'`, locked_until: `now() - interval '1 s'` });
    await keep(2, { state: `'in_progress'` });
    expect(await sweep()).toBe(4);
  });

  it('never deletes a live claim, nor what knows of outside calls', async () => {
    await keep(2, { state: `'in_progress'`, locked_until: `now() + interval '1 h'` });
    await keep(2, { state: `'in_progress'`, has_steps: 'true' });
    expect(await sweep()).toBe(0);
    expect(await left()).toBe(4);
  });

  it('leaves of a key that is remembered a small row, once', async () => {
    await keep(2_500, { ...REMEMBERED, ...ANSWERED });
    expect(await sweep()).toBe(2_500);
    expect(await tombstones()).toBe(2_500);
    expect(await sweep()).toBe(0);
    await app.witness.rows(`UPDATE idempotency_records SET expires_at = now()`);
    expect(await sweep()).toBe(2_500);
    expect(await left()).toBe(0);
  });

  it('remembers no key whose work was given up, nor touches what is at work or knows of outside calls', async () => {
    const givenUp = { ...REMEMBERED, state: `'in_progress'` };
    await keep(2, givenUp);
    await keep(2, { ...givenUp, locked_until: `now() - interval '1 s'` });
    await keep(3, { ...givenUp, locked_until: `now() + interval '1 h'` });
    await keep(3, { ...givenUp, has_steps: 'true' });
    expect(await sweep()).toBe(4);
    expect(await left()).toBe(6);
    expect(await tombstones()).toBe(0);
  });

  it('takes nothing from the work of an operation that outlives its retention', async () => {
    const key = randomUUID();
    const answer = await app.attempt(async (manager, run) => {
      await app.witness.rows(`UPDATE idempotency_records SET expires_at = now() - interval '1 h' WHERE key = $1`, key);
      expect(await sweep()).toBe(0);
      await pay(manager, run, 'a');
      return {};
    }, key);
    expect(answer.status).toBe(201);
    expect(await app.witness.payments(key)).toEqual(['a']);
  });

  it('goes past a record that somebody has locked, and does not wait for it', async () => {
    await keep(20);
    const other = new Client({ connectionString: database.url });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT FROM idempotency_records ORDER BY expires_at LIMIT 5 FOR UPDATE');
      expect(await sweep()).toBe(15);
      await other.query('ROLLBACK');
      expect(await sweep()).toBe(5);
    } finally {
      await other.end();
    }
  });

  it('is shared by several at once: each record is deleted by one', async () => {
    await keep(5_000);
    const second = await startWorkApp({ url: database.url, idempotency: { sweep: false } });
    try {
      const swept = await Promise.all([sweep(), second.app.get(IdempotentOperations).sweep()]);
      expect(swept[0] + swept[1] + (await sweep())).toBe(5_000);
      expect(await left()).toBe(0);
    } finally {
      await second.stop();
    }
  });

  it('leaves out a record that cannot be deleted, names no key of it, and deletes the others', async () => {
    await keep(30);
    const [bad] = await app.witness.rows<{ key: string }>(
      'SELECT key FROM idempotency_records ORDER BY expires_at OFFSET 10 LIMIT 1',
    );
    await app.witness.rows(
      'CREATE TABLE evidence (tenant text, endpoint text, key text, FOREIGN KEY (tenant, endpoint, key) REFERENCES idempotency_records)',
    );
    try {
      await app.witness.rows(`INSERT INTO evidence VALUES ('', 'sweep', $1)`, bad!.key);
      expect(await sweep()).toBe(29);
      expect(await left()).toBe(1);
      expect(logbook.complaints('could not be deleted')).toHaveLength(1);
      expect(logbook.lines.filter((line) => line.includes(bad!.key))).toEqual([]);
    } finally {
      await app.witness.rows('DROP TABLE evidence');
    }
  });

  it('ends where none can be deleted, says so once, and clears all of them when they can', async () => {
    await keep(200);
    // Sequences count what is rolled back as well.
    await app.witness.rows(`CREATE SEQUENCE refusals;
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'refusal %', nextval('refusals') > 0; END $$;
      CREATE TRIGGER refuse BEFORE DELETE ON idempotency_records FOR EACH ROW EXECUTE FUNCTION refuse()`);
    try {
      expect(await sweep()).toBe(0);
      expect(logbook.complaints('swept another time')).toHaveLength(1);
      const [refused] = await app.witness.rows<{ count: string }>(`SELECT nextval('refusals') - 1 AS count`);
      expect(Number(refused!.count)).toBeLessThan(100);
    } finally {
      await app.witness.rows('DROP FUNCTION refuse CASCADE; DROP SEQUENCE refusals');
    }
    expect(await sweep()).toBe(200);
  });

  it('gives the connection back after each batch', async () => {
    await keep(10);
    await sweep();
    expect(app.isPoolAtRest()).toBe(true);
  });
});

describe('the statements for pg_cron', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const [, statements] = /```sql\n([^]*?)```/.exec(page)!;

  it('clear what a sweep clears, and nothing else', async () => {
    await keep(10);
    await keep(10, { ...REMEMBERED, ...ANSWERED });
    await keep(2, { state: `'in_progress'` });
    await keep(3, { expires_at: `now() + interval '1 h'` });
    await keep(3, { state: `'in_progress'`, locked_until: `now() + interval '1 h'` });
    await keep(3, { state: `'in_progress'`, has_steps: 'true' });
    await app.witness.rows(statements!);
    expect(await tombstones()).toBe(10);
    expect(await left()).toBe(10 + 9);
    expect(await sweep()).toBe(0);
  });
});

describe('the sweeper', () => {
  it('sweeps by itself, and ends with the application', async () => {
    await keep(1_500);
    const sweeping = await startWorkApp({ url: database.url, idempotency: { sweepEveryMs: 50 } });
    try {
      await shortly(async () => (await left()) === 0);
    } finally {
      await sweeping.stop();
    }
    await keep(5);
    expect(await left()).toBe(5);
  });

  it('survives a database that is away, and goes on when it is back', async () => {
    await keep(5);
    const sweeping = await startWorkApp({ url: database.url, idempotency: { sweepEveryMs: 50 }, logbook });
    try {
      await app.witness.rows('ALTER TABLE idempotency_records RENAME TO away');
      await shortly(() => logbook.complaints('swept another time').length > 0);
      await app.witness.rows('ALTER TABLE away RENAME TO idempotency_records');
      await shortly(async () => (await left()) === 0);
    } finally {
      await sweeping.stop();
    }
  });
});
