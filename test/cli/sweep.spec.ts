import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { prepareDatabase } from '../module/work-app.js';
import { Witness } from '../module/witness.js';
import { until } from '../protocol/until.js';
import { Cli, environmentOf } from './cli.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let witness: Witness;
let cli: Cli;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  witness = await Witness.of(database.url);
  cli = new Cli(environmentOf(database.url));
});

afterAll(async () => {
  await witness?.close();
  await database?.drop();
});

beforeEach(() => witness.rows('TRUNCATE idempotency_records'));

/** Records in this state whose keys begin with it. */
const insert = (count: number, state: string, expiresIn: string, key: string) =>
  witness.rows(
    `INSERT INTO idempotency_records (tenant, endpoint, key, state, fingerprint, created_at, completed_at, expires_at)
     SELECT 'acme', 'payments', $4 || n, $2, '', now(), now(), now() + $3::interval FROM generate_series(1, $1) AS n`,
    ...[count, state, expiresIn, key],
  );

const left = async (): Promise<number> => {
  const [row] = await witness.rows<{ count: number }>('SELECT count(*)::integer AS count FROM idempotency_records');
  return row!.count;
};

describe('sweep', () => {
  it('clears what is due, asks nothing, and says how much it was', async () => {
    await insert(25, 'completed', '-1 hour', 'due-');
    await insert(2, 'completed', '1 hour', 'kept-');
    const machines = await cli.run('sweep', '--batch', '10', '--json');
    expect(machines).toMatchObject({ code: 0, stderr: '' });
    expect(machines.json()).toEqual({ swept: 25, isComplete: true });
    expect(await left()).toBe(2);
    expect(await cli.run('sweep')).toMatchObject({ code: 0, stdout: 'Swept 0 records.\n' });
  });

  it('ends with the batch under way when it is interrupted, and goes on another time', async () => {
    await insert(5_000, 'completed', '-1 hour', 'due-');
    const running = cli.start(['sweep', '--batch', '1', '--json']);
    await until('the sweep has begun', async () => (await left()) < 5_000);
    running.child.kill('SIGINT');
    const ended = await running.ended;
    expect(ended).toMatchObject({ code: 130, stderr: expect.stringContaining('Ending with the batch under way.') });
    const { swept, isComplete } = ended.json<{ swept: number; isComplete: boolean }>();
    expect(isComplete).toBe(false);
    expect(await left()).toBe(5_000 - swept);
    expect(swept).toBeLessThan(5_000);
    await cli.run('sweep');
    expect(await left()).toBe(0);
  });

  it('leaves out what cannot be cleared, says so, and fails', async () => {
    await insert(3, 'completed', '-1 hour', 'due-');
    await witness.rows(
      `CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'kept by a trigger'; END $$`,
    );
    await witness.rows(
      `CREATE TRIGGER keep BEFORE DELETE ON idempotency_records FOR EACH ROW WHEN (old.key = 'due-2') EXECUTE FUNCTION keep()`,
    );
    const ended = await cli.run('sweep', '--json');
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('kept by a trigger') });
    expect(ended.json()).toMatchObject({ isComplete: false });
    await witness.rows('DROP TRIGGER keep ON idempotency_records');
  });
});
