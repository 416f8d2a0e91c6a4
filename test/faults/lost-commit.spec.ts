import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller, Post } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import { IdempotencyContext, Idempotent } from 'nestjs-idempotency';
import type { DataSource } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from '../module/gate.js';
import { pay, prepareDatabase, startWorkApp, type WorkApp } from '../module/work-app.js';
import { DatabaseProxy, type Interception, isQuery } from './database-proxy.js';

jest.setTimeout(60_000);

/** How transactions have ended, as whoever opened them was told. */
const ends: string[] = [];

@Controller()
class OpenController {
  constructor(private readonly context: IdempotencyContext) {}

  @Post('open')
  @Idempotent({ required: false })
  async open(): Promise<void> {
    await pay(this.context.manager, 'open', randomUUID());
  }
}

let database: TestDatabase;
let proxy: DatabaseProxy;
let app: WorkApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  proxy = await DatabaseProxy.to(database.url);
  app = await startWorkApp({
    url: database.url,
    appUrl: proxy.url,
    typeorm: { poolSize: 3 },
    idempotency: {
      statementTimeoutMs: 3_000,
      joinedBy: (work) =>
        app.app
          .get<DataSource>(getDataSourceToken())
          .transaction(work)
          .then(
            () => ends.push('committed'),
            () => ends.push('undone'),
          ),
    },
    module: { controllers: [OpenController] },
  });
});

afterEach(async () => {
  await proxy.heal();
});

afterAll(async () => {
  await app?.stop();
  await proxy?.close();
  await database?.drop();
});

/** Has the first COMMIT on its way meet this fate; the returned function tells whether it has. */
function onFirstCommit(fate: Interception): () => boolean {
  let hasMet = false;
  proxy.intercept = (chunk) => {
    if (hasMet || !isQuery(chunk, 'COMMIT')) return 'pass';
    hasMet = true;
    return fate;
  };
  return () => hasMet;
}

describe('a COMMIT whose answer does not come', () => {
  const committed: [string, Interception][] = [
    ['the connection is cut after it arrived', 'pass and cut'],
    ['the connection stalls after it arrived', 'pass and stall'],
  ];

  it.each(committed)('is found to have happened when %s: answered as done, once', async (_, fate) => {
    const key = randomUUID();
    const hasMet = onFirstCommit(fate);
    const { status, headers, body } = await app.attempt(async (manager, run) => {
      await pay(manager, run, 'paid');
      return { paid: run };
    }, key);
    expect(hasMet()).toBe(true);
    expect([status, headers.get('Idempotent-Replayed'), body]).toEqual([201, null, JSON.stringify({ paid: key })]);
    expect(await app.witness.payments(key)).toEqual(['paid']);
    const retry = await app.attempt(() => 'never', key);
    expect([retry.status, retry.headers.get('Idempotent-Replayed'), retry.body]).toEqual([201, 'true', body]);
    expect(app.runsOf(key)).toBe(1);
  });

  it('is not told of as undone, nor as committed, to who has joined it in a request without a key', async () => {
    const hasMet = onFirstCommit('pass and cut');
    ends.length = 0;
    expect((await app.post('/open')).status).toBe(500);
    expect(hasMet()).toBe(true);
    expect(await app.witness.payments('open')).toHaveLength(1);
    expect((await app.post('/open')).status).toBe(201);
    await eventually('the next one is told of', () => ends.length > 0);
    expect(ends).toEqual(['committed']);
  });

  const uncommitted: [string, Interception][] = [
    ['the connection is cut before it arrives', 'cut'],
    ['it is lost while the connection stands', 'drop'],
  ];

  it.each(uncommitted)(
    'is found not to have happened when %s: nothing is kept, and the retry runs',
    async (_, fate) => {
      const key = randomUUID();
      const hasMet = onFirstCommit(fate);
      const { status } = await app.attempt(async (manager, run) => pay(manager, run, 'paid'), key);
      expect(hasMet()).toBe(true);
      expect(status).toBeGreaterThanOrEqual(500);
      expect(await app.witness.payments(key)).toEqual([]);
      const retry = await app.attempt(async (manager, run) => pay(manager, run, 'retried'), key);
      expect([retry.status, retry.headers.get('Idempotent-Replayed')]).toEqual([201, null]);
      expect(await app.witness.payments(key)).toEqual(['retried']);
    },
  );

  it('says 503 while nobody can tell, and a retry gets the recording once the database is back', async () => {
    const key = randomUUID();
    proxy.intercept = (chunk) => {
      if (!isQuery(chunk, 'COMMIT')) return 'pass';
      void proxy.refuse();
      return 'pass';
    };
    // Written before the cut, so it reaches the database; where it does not, nothing was committed.
    const { status } = await app.attempt(async (manager, run) => pay(manager, run, 'paid'), key);
    expect(status).toBe(503);
    const payments = await app.witness.payments(key);
    await proxy.heal();
    await app.witness.rows('UPDATE idempotency_records SET locked_until = now() WHERE key = $1', key);
    const retry = await eventually('the database is back', async () => {
      const tried = await app.attempt(async (manager, run) => pay(manager, run, 'paid'), key);
      return tried.status === 503 ? null : tried;
    });
    expect([retry.status, retry.headers.get('Idempotent-Replayed')]).toEqual([
      201,
      payments.length > 0 ? 'true' : null,
    ]);
    expect(await app.witness.payments(key)).toEqual(['paid']);
  });
});
