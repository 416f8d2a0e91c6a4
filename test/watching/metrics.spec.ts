import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { IdempotentOperation } from 'nestjs-idempotency';

import {
  ATTRIBUTES,
  CLAIM_BUCKETS_S,
  type Metric,
  METRICS,
  WORK_BUCKETS_S,
} from '../../libs/idempotency/src/telemetry/metrics.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from '../module/gate.js';
import { pay, prepareDatabase, type Work } from '../module/work-app.js';
import { Exports } from './exports.js';
import { startWatchedApp, type WatchedApp } from './watched-app.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let exported: Exports;
let app: WatchedApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  exported = Exports.start();
  app = await startWatchedApp({ url: database.url });
});

afterAll(async () => {
  await app?.stop();
  await exported?.stop();
  await database?.drop();
});

const paying: Work = (manager, run) => pay(manager, run, 'paid').then(() => ({ run }));
const cutOff = (operation: IdempotentOperation): Promise<unknown> =>
  operation.step('charge', () => Promise.reject(new Error('Cut off.')));

const WORK = { [ATTRIBUTES.endpoint]: 'POST /work' };
const PLAYS = { [ATTRIBUTES.endpoint]: 'plays' };

/** How much a metric has grown by what was done. */
async function growth({ name }: Metric, labels: Readonly<Record<string, string>>, act: () => Promise<unknown>) {
  const before = (await exported.value(name, labels)) ?? 0;
  await act();
  return ((await exported.value(name, labels)) ?? 0) - before;
}

/** Somebody else has the operation from now on. */
const takeOver = (key: string): Promise<unknown> =>
  app.witness.rows('UPDATE idempotency_records SET token = gen_random_uuid() WHERE key = $1', key);

/** What is read of the tables is remembered for a while: another application looks anew. */
async function restart(): Promise<void> {
  await app.stop();
  app = await startWatchedApp({ url: database.url });
}

/** One check for each metric: a new one has no place without. */
const MOVES: Record<keyof typeof METRICS, () => Promise<void>> = {
  outcomes: async () => {
    const executed = { ...WORK, [ATTRIBUTES.outcome]: 'executed', [ATTRIBUTES.channel]: 'http' };
    expect(await growth(METRICS.outcomes, executed, () => app.attempt(paying))).toBe(1);
    const failed = { [ATTRIBUTES.endpoint]: 'jobs', [ATTRIBUTES.outcome]: 'failed', [ATTRIBUTES.channel]: 'service' };
    const fail = (): Promise<unknown> =>
      app.service
        .run({ tenant: 'acme', endpoint: 'jobs', key: randomUUID(), payload: {} }, () =>
          Promise.reject(new Error('No.')),
        )
        .catch(() => undefined);
    expect(await growth(METRICS.outcomes, failed, fail)).toBe(1);
  },
  claimDuration: async () => {
    const missing = { ...WORK, [ATTRIBUTES.outcome]: 'key_missing' };
    expect(await growth(METRICS.claimDuration, missing, () => app.post('/work'))).toBe(0);
    const executed = { ...WORK, [ATTRIBUTES.outcome]: 'executed' };
    expect(await growth(METRICS.claimDuration, executed, () => app.attempt(paying))).toBe(1);
    const [point] = await exported.points(METRICS.claimDuration.name, executed);
    expect(point!.buckets).toEqual(CLAIM_BUCKETS_S);
  },
  workDuration: async () => {
    const key = randomUUID();
    const executed = { ...WORK, [ATTRIBUTES.outcome]: 'executed' };
    expect(await growth(METRICS.workDuration, executed, () => app.attempt(paying, key))).toBe(1);
    const replayed = { ...WORK, [ATTRIBUTES.outcome]: 'replayed' };
    expect(await growth(METRICS.workDuration, replayed, () => app.attempt(paying, key))).toBe(0);
    const [point] = await exported.points(METRICS.workDuration.name, executed);
    expect(point!.buckets).toEqual(WORK_BUCKETS_S);
  },
  claimsLost: async () => {
    const key = randomUUID();
    const byRecording = (): Promise<unknown> => app.attempt(() => takeOver(key), key);
    expect(await growth(METRICS.claimsLost, WORK, byRecording)).toBe(1);
    const byStep = (): Promise<unknown> => {
      const stepping = randomUUID();
      return app.play(stepping, async (operation) => {
        await takeOver(stepping);
        return operation.step('charge', () => Promise.resolve('ch_1'));
      });
    };
    expect(await growth(METRICS.claimsLost, PLAYS, byStep)).toBe(1);
    let atOnce: number | undefined;
    const byRenewal = (): Promise<unknown> => {
      const request = { tenant: 'acme', endpoint: 'jobs', key: randomUUID(), payload: {}, leaseMs: 3_000 };
      return app.service
        .run(request, async ({ signal }) => {
          await takeOver(request.key);
          await eventually('the renewal finds its token gone', () => signal.aborted);
          atOnce = await exported.value(METRICS.claimsLost.name, { [ATTRIBUTES.endpoint]: 'jobs' });
        })
        .catch(() => undefined);
    };
    expect(await growth(METRICS.claimsLost, { [ATTRIBUTES.endpoint]: 'jobs' }, byRenewal)).toBe(1);
    expect(atOnce).toBe(1);
  },
  active: async () => {
    let during: number | undefined;
    await app.attempt(async () => {
      during = await exported.value(METRICS.active.name, WORK);
    });
    expect(during).toBe(1);
    await app.attempt(() => Promise.reject(new Error('No.')));
    await app.post('/strict', { key: randomUUID(), body: { amount: 'much' } });
    expect(await exported.value(METRICS.active.name)).toBe(0);
  },
  oldestAge: async () => {
    expect(await exported.value(METRICS.oldestAge.name)).toBe(0);
    const seen: number[] = [];
    await app.attempt(async () => {
      for (let look = 0; look < 2; look++) seen.push((await exported.value(METRICS.oldestAge.name))!);
    });
    expect(seen[0]).toBeGreaterThan(0);
    expect(seen[1]).toBeGreaterThan(seen[0]!);
    expect(await exported.value(METRICS.oldestAge.name)).toBe(0);
  },
  records: async () => {
    await app.witness.rows('DELETE FROM idempotency_records');
    for (let count = 0; count < 3; count++) await app.attempt(paying);
    for (let count = 0; count < 2; count++) await app.play(randomUUID(), cutOff);
    await app.witness.rows('ANALYZE idempotency_records');
    await restart();
    const points = await exported.points(METRICS.records.name);
    expect(Object.fromEntries(points.map(({ labels, value }) => [labels[ATTRIBUTES.state], value]))).toEqual({
      completed: 3,
      in_progress: 2,
    });
  },
  unknown: async () => {
    await app.witness.rows('DELETE FROM idempotency_steps');
    const [left, other, known] = [randomUUID(), randomUUID(), randomUUID()];
    await app.play(left, cutOff);
    await app.play(other, cutOff);
    await app.play(known, async (operation) => {
      await operation.step('charge', () => Promise.resolve('ch_1'));
      throw new Error('No.');
    });
    await app.witness.rows('UPDATE idempotency_records SET locked_until = NULL WHERE key = ANY ($1)', [left, known]);
    // Somebody works on this one.
    await app.witness.rows(`UPDATE idempotency_records SET locked_until = now() + '1 hour' WHERE key = $1`, other);
    await restart();
    expect(await exported.value(METRICS.unknown.name)).toBe(1);
    await app.witness.rows('DELETE FROM idempotency_steps');
    await restart();
    expect(await exported.value(METRICS.unknown.name)).toBe(0);
  },
  unknownOldestAge: async () => {
    await app.witness.rows('DELETE FROM idempotency_steps');
    const key = randomUUID();
    await app.play(key, cutOff);
    await app.witness.rows('UPDATE idempotency_records SET locked_until = NULL WHERE key = $1', key);
    await app.witness.rows(`UPDATE idempotency_steps SET intended_at = intended_at - interval '1 hour'`);
    await restart();
    expect(Math.floor((await exported.value(METRICS.unknownOldestAge.name))! / 3600)).toBe(1);
  },
  sweepLag: async () => {
    await app.witness.rows('DELETE FROM idempotency_records');
    await app.attempt(paying);
    await restart();
    expect(await exported.value(METRICS.sweepLag.name)).toBe(0);
    await app.witness.rows(`UPDATE idempotency_records SET expires_at = now() - interval '1 hour'`);
    // It knows of outside calls, and stays.
    await app.play(randomUUID(), cutOff);
    await app.witness.rows(
      `UPDATE idempotency_records SET expires_at = now() - interval '1 day', locked_until = NULL WHERE has_steps`,
    );
    await restart();
    expect(Math.floor((await exported.value(METRICS.sweepLag.name))! / 3600)).toBe(1);
  },
  swept: async () => {
    for (let count = 0; count < 3; count++) await app.attempt(paying);
    await app.operations.sweep();
    await app.witness.rows(`UPDATE idempotency_records SET expires_at = now() - interval '1 hour' WHERE NOT has_steps`);
    const [row] = await app.witness.rows<{ due: number }>(
      'SELECT count(*)::integer AS due FROM idempotency_records WHERE NOT has_steps',
    );
    expect(row!.due).toBeGreaterThanOrEqual(3);
    expect(await growth(METRICS.swept, {}, () => app.operations.sweep())).toBe(row!.due);
  },
};

describe('the metric', () => {
  it.each(Object.keys(METRICS) as (keyof typeof METRICS)[])('%s says what happens', (metric) => MOVES[metric]());
});

describe('what is exported', () => {
  it('is what is declared, with no other labels', async () => {
    const declared = Object.values<Metric>(METRICS);
    const found = await exported.collect();
    expect(found.map(({ descriptor }) => descriptor.name).sort()).toEqual(declared.map(({ name }) => name).sort());
    for (const { descriptor, dataPoints } of found) {
      const { unit, description, attributes } = declared.find(({ name }) => name === descriptor.name)!;
      expect(descriptor).toMatchObject({ unit, description });
      const labels = new Set(dataPoints.flatMap((point) => Object.keys(point.attributes)));
      expect([...labels].sort()).toEqual(attributes.map((attribute) => ATTRIBUTES[attribute]).sort());
    }
  });
});
