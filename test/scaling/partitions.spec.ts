import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IdempotencyHealth, IdempotentOperations } from 'nestjs-idempotency';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { gate } from '../module/gate.js';
import { pay, prepareDatabase, startWorkApp, type WorkApp } from '../module/work-app.js';
import { Witness } from '../module/witness.js';

jest.setTimeout(60_000);

const [SPLITTING, SWEEPING] = ['scaling.md', 'operations.md'].map((page) => {
  const [, sql] = /```sql\n([^]*?)```/.exec(readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8'))!;
  return sql!;
});

/** More than there are partitions, so that some share one and others do not. */
const TENANTS = Array.from({ length: 40 }, (_, n) => `acct_${n}`);

let database: TestDatabase;
let app: WorkApp;
let tenant: string;
/** An operation that was recorded before the table was split. */
const EARLIER = randomUUID();

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  tenant = TENANTS[0]!;
  const before = await start('lease');
  expect((await before.attempt((manager, run) => pay(manager, run, 'earlier'), EARLIER)).status).toBe(201);
  await before.stop();
  const witness = await Witness.of(database.url);
  await witness.rows(SPLITTING!);
  await witness.close();
});

afterAll(() => database?.drop());

const start = (claim: 'lease' | 'transaction') =>
  startWorkApp({
    url: database.url,
    idempotency: { sweep: false, claim, singleTenant: false, tenant: () => tenant },
  });

describe.each(['lease', 'transaction'] as const)('in a table that is split by tenant, by %s', (claim) => {
  beforeEach(async () => {
    tenant = TENANTS[0]!;
    app = await start(claim);
  });

  afterEach(() => app?.stop());

  it('replays what was recorded before', async () => {
    const again = await app.attempt(() => expect(true).toBe(false), EARLIER);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
  });

  it("runs each tenant's operation once, keeps them apart, and replays it", async () => {
    const key = randomUUID();
    for (tenant of TENANTS) {
      const first = await app.attempt((manager, run) => pay(manager, run, tenant), key);
      const again = await app.attempt(() => expect(true).toBe(false), key);
      expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true']);
    }
    expect((await app.witness.payments(key)).sort()).toEqual([...TENANTS].sort());
    const parts = await app.witness.rows<{ part: string }>(
      'SELECT DISTINCT tableoid::regclass::text AS part FROM idempotency_records WHERE key = $1',
      key,
    );
    expect(parts.length).toBeGreaterThan(8);
  });

  it('lets one of two run that come at the same time', async () => {
    const key = randomUUID();
    const [inside, leave] = [gate(), gate()];
    const first = app.attempt(async (manager, run) => {
      inside.open();
      await leave.passed;
      await pay(manager, run, 'once');
    }, key);
    await inside.passed;
    expect((await app.attempt(() => expect(true).toBe(false), key)).status).toBe(409);
    leave.open();
    expect((await first).status).toBe(201);
    expect(await app.witness.payments(key)).toEqual(['once']);
  });
});

describe('a sweep of a table that is split by tenant', () => {
  beforeEach(async () => {
    app = await start('lease');
    await app.witness.rows('TRUNCATE idempotency_records');
  });

  afterEach(() => app?.stop());

  const keep = (expiresAt: string, replaysUntil: string) =>
    app.witness.rows(
      `INSERT INTO idempotency_records (tenant, endpoint, key, fingerprint, state, created_at, expires_at, replays_until)
       SELECT tenant, 'sweep', n::text, '\\x01', 'completed', now(), ${expiresAt}, ${replaysUntil}
       FROM unnest($1::text[]) AS tenant, generate_series(1, 50) AS n`,
      TENANTS,
    );

  const counted = async (condition: string): Promise<number> =>
    (
      await app.witness.rows<{ count: number }>(
        `SELECT count(*)::int AS count FROM idempotency_records WHERE ${condition}`,
      )
    )[0]!.count;

  // Half of the rows are due, and in another partition a row at the same place is not.
  const DUE = `CASE WHEN hashtext(tenant || n) % 2 = 0 THEN now() - interval '1 s' ELSE now() + interval '1 h' END`;

  it.each([
    ['pg_cron', () => app.witness.rows(SWEEPING!)],
    ['the module', () => app.app.get(IdempotentOperations).sweep()],
  ])('by %s deletes what is due and nothing else', async (_, sweep) => {
    await keep(DUE, 'NULL');
    const live = await counted('expires_at > now()');
    expect(Math.min(live, await counted('expires_at <= now()'))).toBeGreaterThan(500);
    await sweep();
    expect([await counted('expires_at > now()'), await counted('true')]).toEqual([live, live]);
  });

  it('makes tombstones of what is past its retention and of nothing else', async () => {
    await keep(`now() + interval '1 day'`, DUE);
    const due = await counted('replays_until <= now()');
    expect(await app.app.get(IdempotentOperations).sweep()).toBe(due);
    expect(await counted(`response_omitted = 'expired'`)).toBe(due);
    expect(await counted('true')).toBe(TENANTS.length * 50);
  });

  it('finds the schema as it must be', async () => {
    expect(await app.app.get(IdempotencyHealth).check()).toEqual({ status: 'up' });
  });
});
