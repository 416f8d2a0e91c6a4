import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type ClientProxy, ClientProxyFactory, Transport } from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';

import { operationHash } from '../../libs/idempotency/src/core/operation-hash.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from '../module/gate.js';
import { pay, prepareDatabase, type Work } from '../module/work-app.js';
import { Exports } from './exports.js';
import { opened, startWatchedApp, type WatchedApp } from './watched-app.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let exported: Exports;
let app: WatchedApp;
let client: ClientProxy;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  exported = Exports.start();
  app = await startWatchedApp({ url: database.url });
  client = ClientProxyFactory.create({
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port: app.messagePort },
  });
});

afterAll(async () => {
  await client?.close();
  await app?.stop();
  await exported?.stop();
  await database?.drop();
});

let key: string;
beforeEach(() => {
  app.events.length = 0;
  key = randomUUID();
});

const paying: Work = (manager, run) => pay(manager, run, 'paid').then(() => ({ run }));
const MS = expect.any(Number);

describe('an event', () => {
  it('tells of a request whose it is, which way it came, what it came to and how long that took', async () => {
    await app.attempt(paying, key);
    await app.attempt(paying, key);
    const operation = { tenant: 'acme', endpoint: 'POST /work' };
    const same = { ...operation, channel: 'http', keyHash: operationHash({ ...operation, key }) };
    expect(app.events).toEqual([
      { ...same, outcome: 'executed', attempts: 1, claimMs: MS, workMs: MS },
      { ...same, outcome: 'replayed', claimMs: MS },
    ]);
  });

  it('is told outside of what a handler has opened that writes its answer itself', async () => {
    let around: string | undefined = 'nobody was told';
    const onOutcome = () => void (around = opened.getStore());
    const other = await startWatchedApp({ url: database.url, idempotency: { onOutcome } });
    try {
      expect((await other.post('/by-hand', { key })).body).toBe('written by hand');
      expect(around).toBeUndefined();
    } finally {
      await other.stop();
    }
  });

  it('tells of plain code', async () => {
    const operation = { tenant: 'acme', endpoint: 'jobs', key };
    await app.service.run({ ...operation, payload: {} }, ({ manager }) => pay(manager, key, 'paid'));
    const { key: _, ...named } = operation;
    expect(app.events).toEqual([
      {
        ...named,
        channel: 'service',
        keyHash: operationHash(operation),
        outcome: 'executed',
        attempts: 1,
        claimMs: MS,
        workMs: MS,
      },
    ]);
  });

  it('tells of a message that a handler is called for, each time that it is delivered', async () => {
    for (const outcome of ['executed', 'replayed']) {
      await lastValueFrom(client.emit('paid', { run: key }), { defaultValue: undefined });
      await eventually(`the message was ${outcome}`, () => app.events.some((event) => event.outcome === outcome));
    }
    const same = { tenant: 'bank', endpoint: 'payouts', channel: 'message' };
    expect(app.events).toMatchObject([
      { ...same, outcome: 'executed', attempts: 1 },
      { ...same, outcome: 'replayed' },
    ]);
  });

  it('tells of a message that code hands over, also where it has no id', async () => {
    const message = { tenant: 'bank', endpoint: 'payouts', payload: { amount: 1 } };
    await app.service.consume({ ...message, key }, ({ manager }) => pay(manager, key, 'paid'));
    await app.service.consume(message, () => 'not run');
    expect(app.events).toMatchObject([
      { channel: 'message', tenant: 'bank', endpoint: 'payouts', outcome: 'executed', attempts: 1 },
      { channel: 'message', endpoint: 'payouts', outcome: 'key_missing', error: 'idempotency-key-missing' },
    ]);
    expect(app.events[1]).not.toHaveProperty('tenant');
  });

  it('tells of what the reconciler has ended', async () => {
    await app.play(key, (operation) => operation.step('charge', () => Promise.reject(new Error('Cut off.'))));
    await app.witness.rows('UPDATE idempotency_records SET locked_until = NULL WHERE key = $1', key);
    await app.witness.rows(`UPDATE idempotency_steps SET intended_at = intended_at - interval '1 hour'`);
    app.reconcileBy(key, async (operation) => ({
      status: 201,
      body: await operation.step('charge', () => Promise.resolve('ch_1')),
    }));
    await app.operations.reconcile();
    const same = { tenant: 'acme', endpoint: 'plays', keyHash: app.events[0]!.keyHash };
    expect(app.events).toMatchObject([
      { ...same, channel: 'http', outcome: 'outcome_unknown', attempts: 1, error: 'idempotency-outcome-unknown' },
      { ...same, channel: 'reconciler', outcome: 'executed', attempts: 2 },
    ]);
  });

  it('changes nothing when it cannot be taken, and the log says so', async () => {
    const deaf = await startWatchedApp({
      url: database.url,
      logbook: app.logbook,
      idempotency: {
        onOutcome: () => {
          throw new Error('The queue of events is full.');
        },
      },
    });
    expect((await deaf.attempt(paying, key)).status).toBe(201);
    expect(await deaf.witness.payments(key)).toEqual(['paid']);
    const [complaint] = app.logbook.complaints('`onOutcome` failed');
    expect(complaint).toContain('The queue of events is full.');
    await deaf.stop();
  });
});

describe('the log', () => {
  it('names an operation by its endpoint and the same hash', async () => {
    const failing = (): never => {
      throw new Error('The mail could not be sent.');
    };
    await app.service.run({ tenant: 'acme', endpoint: 'jobs', key, payload: {} }, (operation) =>
      operation.afterCommit(failing),
    );
    const { keyHash } = app.events[0]!;
    const complaints = await eventually('it was reported', () => {
      const lines = app.logbook.complaints('afterCommit');
      return lines.length > 0 && lines;
    });
    expect(complaints).toEqual([expect.stringContaining(`[jobs ${keyHash}] A callback registered`)]);
  });

  it('names it also where the database says that it is gone', async () => {
    await app.attempt(async (manager, run) => {
      await pay(manager, run, 'undone');
      await manager.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => 'swallowed');
    }, key);
    const { keyHash, outcome } = app.events[0]!;
    expect(outcome).toBe('store_unavailable');
    expect(app.logbook.complaints('before it confirmed')).toEqual([expect.stringContaining(`[POST /work ${keyHash}]`)]);
  });

  it('says the same line once a second, and not for each of the operations', async () => {
    const { complaints, refused } = await withoutDatabase();
    expect(complaints.length).toBeLessThan(refused);
    expect(complaints[0]).toMatch(/\[POST \/work [0-9a-f]{16}\]/);
  });
});

/** What is logged of ten requests at once while nothing of the library's can be reached. */
async function withoutDatabase(): Promise<{ complaints: string[]; refused: number }> {
  const refused = 10;
  await app.witness.rows('ALTER TABLE idempotency_records RENAME TO away');
  try {
    const statuses = await Promise.all(Array.from({ length: refused }, async () => (await app.attempt(paying)).status));
    expect(new Set(statuses)).toEqual(new Set([503]));
  } finally {
    await app.witness.rows('ALTER TABLE away RENAME TO idempotency_records');
  }
  return { complaints: app.logbook.complaints('The store did not answer; an attempt was refused.'), refused };
}

describe('nothing that is told of an attempt', () => {
  it('holds its key, what was asked or what was answered', async () => {
    const secrets = { key: `key-${randomUUID()}`, asked: randomUUID(), answered: randomUUID(), thrown: randomUUID() };
    const body = { card: secrets.asked };
    await app.post('/strict', { key: secrets.key, body });
    await app.post('/strict', { key: secrets.key, body });
    await app.post('/strict', { key: secrets.key, body: { card: `${secrets.asked}0` } });
    await app.attempt(() => ({ answered: secrets.answered }), `${secrets.key}-2`);
    await app.attempt(() => Promise.reject(new Error(secrets.thrown)), `${secrets.key}-3`);
    await app.play(`${secrets.key}-4`, (operation) =>
      operation.step('charge', () => Promise.reject(new Error(secrets.thrown))),
    );
    await app.service
      .run({ tenant: 'acme', endpoint: 'jobs', key: `${secrets.key}-5`, payload: body }, () => {
        throw new Error(secrets.thrown);
      })
      .catch(() => undefined);
    const told = `${await exported.text()}\n${JSON.stringify(app.events)}`;
    // Or nothing was told.
    expect(told).toContain('idempotency.step charge');
    expect(told).toContain(app.events.at(-1)!.keyHash);
    for (const secret of Object.values(secrets)) expect(told).not.toContain(secret);
    for (const secret of [secrets.key, secrets.asked, secrets.answered]) {
      expect(app.logbook.lines.join('\n')).not.toContain(secret);
    }
  });
});
