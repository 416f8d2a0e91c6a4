import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { Witness } from '../module/witness.js';
import { prepareDatabase } from '../module/work-app.js';

jest.setTimeout(60_000);

const HOUR_MS = 3_600_000;

describe.each([
  ['ahead of', 36 * HOUR_MS, 'Pacific/Kiritimati'],
  ['behind', -36 * HOUR_MS, 'America/St_Johns'],
])('a process whose clock is hours %s the database, in another time zone', (_, offsetMs, timeZone) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    await prepareDatabase(database.url);
  });

  afterAll(() => database?.drop());

  it('knows leases, retention and Retry-After by the clock of the database', async () => {
    const child = fork(join(import.meta.dirname, 'wrong-clock.mjs'), {
      execArgv: [],
      env: { ...process.env, TZ: timeZone },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let complaints = '';
    child.stderr?.on('data', (text) => (complaints += text));
    const died = once(child, 'exit').then(() => Promise.reject(new Error(`The process died. ${complaints}`)));
    died.catch(() => undefined);
    child.send({ url: database.url, offsetMs });
    const [{ seen }] = (await Promise.race([once(child, 'message'), died])) as [{ seen: Record<string, unknown> }];
    const { leased, ...rest } = seen;
    expect(rest).toEqual({
      first: [201, false, 0],
      replay: [201, true, 0],
      pastRetention: [201, false, 0],
      leaseOver: [201, false, 0],
      times: [{ is_now: true, is_kept: true }],
    });
    const [status, isReplay, retryAfter] = leased as [number, boolean, number];
    expect([status, isReplay]).toEqual([409, false]);
    expect(retryAfter).toBeGreaterThan(20);
    expect(retryAfter).toBeLessThanOrEqual(40);
    const witness = await Witness.of(database.url);
    expect(await witness.payments('recorded')).toEqual(['run 1']);
    expect(await witness.payments('expired')).toEqual(['run 1', 'run 2']);
    await witness.close();
  });
});
