import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { IdempotencyHealth } from 'nestjs-idempotency';

import { onServer } from '../database/server.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { pay, prepareDatabase, startWorkApp } from '../module/work-app.js';
import { Witness } from '../module/witness.js';
import { keepsItsPromise } from './keeps-its-promise.js';

jest.setTimeout(60_000);

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/operations/surroundings.md'), 'utf8');

/** What the page has an operator grant. */
const GRANTS = /```sql\n(GRANT [\s\S]*?)```/.exec(PAGE)![1]!;

describe('under a role with the grants that the documentation names', () => {
  const role = `app_${randomBytes(4).toString('hex')}`;
  let database: TestDatabase;
  let owner: Witness;
  let appUrl: string;

  const asRole = (sql: string): string => sql.replaceAll('payments_app', role);

  beforeAll(async () => {
    database = await createTestDatabase();
    await prepareDatabase(database.url);
    await onServer((client) => client.query(`CREATE ROLE ${role} LOGIN NOINHERIT PASSWORD 'of the tests'`));
    owner = await Witness.of(database.url);
    await owner.rows('REVOKE ALL ON SCHEMA public FROM PUBLIC');
    await owner.rows(asRole(GRANTS));
    // Of the application's own tables.
    await owner.rows(`GRANT SELECT, INSERT ON payments TO ${role}`);
    const url = new URL(database.url);
    [url.username, url.password] = [role, 'of the tests'];
    appUrl = url.href;
  });

  afterAll(async () => {
    await owner?.close();
    await database?.drop();
    // Where the database is kept, so is what belongs to it.
    await onServer((client) => client.query(`DROP ROLE IF EXISTS ${role}`)).catch(() => undefined);
  });

  const start = () => startWorkApp({ url: database.url, appUrl, idempotency: { sweep: false } });

  keepsItsPromise(() => ({ url: database.url, appUrl }));

  const tables = ['idempotency_records', 'idempotency_steps'];
  const each = tables.flatMap((table) =>
    ['SELECT', 'INSERT', 'UPDATE', 'DELETE'].map((privilege) => [privilege, table] as const),
  );

  it.each(each)('an application that lacks %s on %s does not start, and says so', async (privilege, table) => {
    await owner.rows(`REVOKE ${privilege} ON ${table} FROM ${role}`);
    try {
      await expect(start()).rejects.toThrow(`GRANT ${privilege} ON "${table}" TO ${role};`);
    } finally {
      await owner.rows(asRole(GRANTS));
    }
  });

  it('an application that may not use the schema does not start', async () => {
    await owner.rows(`REVOKE USAGE ON SCHEMA public FROM ${role}`);
    try {
      await expect(start()).rejects.toThrow('does not exist, or this role cannot see it');
    } finally {
      await owner.rows(asRole(GRANTS));
    }
  });

  it('what is taken away later runs nothing, is told by the health check, and heals when it is granted again', async () => {
    const app = await start();
    const work = () => app.attempt((manager, run) => pay(manager, run, 'paid'));
    try {
      await owner.rows(`REVOKE INSERT ON idempotency_records FROM ${role}`);
      const refused = await work();
      expect([refused.status, JSON.parse(refused.body)]).toEqual([
        503,
        expect.objectContaining({ code: 'idempotency-store-unavailable' }),
      ]);
      expect(await app.app.get(IdempotencyHealth).check()).toEqual({
        status: 'down',
        reason: expect.stringContaining(`GRANT INSERT ON "idempotency_records" TO ${role}`),
      });
      await owner.rows(asRole(GRANTS));
      expect((await work()).status).toBe(201);
      expect(await app.app.get(IdempotencyHealth).check()).toEqual({ status: 'up' });
    } finally {
      await app.stop();
    }
  });

  it('a session that reads strings otherwise than the library keeps an application from starting', async () => {
    const setting = (value: string) =>
      owner.rows(`ALTER ROLE ${role} IN DATABASE ${database.name} SET standard_conforming_strings = ${value}`);
    await setting('off');
    await expect(start()).rejects.toThrow(`ALTER ROLE ${role} SET standard_conforming_strings = on;`);
    await setting('on');
    await (await start()).stop();
  });
});
