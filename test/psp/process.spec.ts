import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from '../module/gate.js';
import { PspProcess } from './process.js';
import { chargeOf, newReference } from './psp.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let witness: Client;
let survivor: PspProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  witness = new Client(database.url);
  await witness.connect();
  survivor = await start();
});

afterAll(async () => {
  await survivor?.end('SIGKILL');
  await witness?.end();
  await database?.drop();
});

const start = (environment: NodeJS.ProcessEnv = {}): Promise<PspProcess> =>
  PspProcess.start({ DATABASE_URL: database.url, ...environment });

const charges = async (reference: string): Promise<number | null> =>
  (await witness.query('SELECT FROM charges WHERE reference = $1', [reference])).rowCount;

/** The server ends what a dead process left open as soon as it notices. */
const untilNoTransactionIsOpen = () =>
  eventually('every transaction of the provider is over', async () => {
    const { rowCount } = await witness.query(
      `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'psp' AND xact_start IS NOT NULL`,
    );
    return rowCount === 0;
  });

describe('the process of the provider', () => {
  it.each([
    ['during', 0, undefined],
    ['after', 1, 'true'],
  ])('that is killed %s the effect of a call has made %d charges', async (at, made, replayed) => {
    const [key, reference] = [randomUUID(), newReference()];
    const doomed = await start();
    await doomed.post('/control/hold', { at, reference });
    const answer = doomed.raw('POST', '/charges', chargeOf({ reference }), { key });
    await doomed.untilHeld(reference);
    expect(await doomed.end('SIGKILL')).toEqual({ exitCode: null, signal: 'SIGKILL' });

    expect((await answer).toString()).toBe('');
    await untilNoTransactionIsOpen();
    expect(await charges(reference)).toBe(made);
    const retry = await survivor.charge({ reference }, { key });
    expect([retry.status, retry.header('Idempotent-Replayed')]).toEqual([201, replayed]);
    expect(await charges(reference)).toBe(1);
  });

  it('ends at SIGTERM, whatever it holds', async () => {
    const reference = newReference();
    const psp = await start();
    await psp.post('/control/hold', { at: 'before', reference });
    const answer = psp.raw('POST', '/charges', chargeOf({ reference }));
    await psp.untilHeld(reference);
    expect(await psp.end('SIGTERM')).toEqual({ exitCode: null, signal: 'SIGTERM' });
    expect((await answer).toString()).toBe('');
    expect(await charges(reference)).toBe(0);
  });

  it('ends with the process that started it', async () => {
    const psp = await start();
    expect(await psp.disown()).toEqual({ exitCode: 0, signal: null });
  });

  it('behaves as its environment says', async () => {
    const reference = newReference();
    const psp = await start({ PSP_KEYS: 'ignored', PSP_SEARCH: 'off', PSP_API_KEYS: 'sk_test_own' });
    const sending = { key: reference, apiKey: 'sk_test_own' };
    for (let call = 0; call < 2; call++) expect((await psp.charge({ reference }, sending)).status).toBe(201);
    expect((await psp.charge({ reference })).status).toBe(401);
    expect((await psp.get(`/charges?reference=${reference}`, sending)).status).toBe(501);
    expect(await charges(reference)).toBe(2);
    await psp.end('SIGKILL');
  });

  it('says how it is used, and what it lacks', () => {
    const run = (args: string[], environment: NodeJS.ProcessEnv) =>
      spawnSync(process.execPath, [join(import.meta.dirname, '../../apps/psp/dist/main.js'), ...args], {
        env: { ...process.env, ...environment },
        encoding: 'utf8',
      });
    const help = run(['--help'], { DATABASE_URL: '' });
    expect([help.status, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toMatch(/^Usage: node apps\/psp\/dist\/main\.js\n[^]*\n {2}PSP_WEBHOOK_URL /);
    const lacking = run([], { DATABASE_URL: '' });
    expect([lacking.status, lacking.stdout]).toEqual([1, '']);
    expect(lacking.stderr).toMatch(/^The payment provider did not start: Set DATABASE_URL/);
  });
});
