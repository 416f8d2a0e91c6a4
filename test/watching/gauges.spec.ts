import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { metrics } from '@opentelemetry/api';
import { AggregationTemporality } from '@opentelemetry/sdk-metrics';
import { DataSource } from 'typeorm';

import { figureStatementsFor, PostgresFigures } from '../../libs/idempotency/src/storage/postgres-figures.js';
import type { Statement } from '../../libs/idempotency/src/storage/statements.js';
import { recordNames, stepNames } from '../../libs/idempotency/src/storage/table-names.js';
import { Gauges } from '../../libs/idempotency/src/telemetry/gauges.js';
import { METRICS } from '../../libs/idempotency/src/telemetry/metrics.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { DatabaseProxy } from '../faults/database-proxy.js';
import { dataSourceOptions, poolOf, prepareDatabase } from '../module/work-app.js';
import { Exports } from './exports.js';

jest.setTimeout(30_000);

const OF_THE_TABLES: readonly string[] = [METRICS.unknown.name, METRICS.unknownOldestAge.name, METRICS.sweepLag.name];

let database: TestDatabase;
let proxy: DatabaseProxy;
let dataSource: DataSource;
let exported: Exports;
let gauges: Gauges;
let surveys: number;
let reports: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
});

afterAll(() => database?.drop());

beforeEach(async () => {
  proxy = await DatabaseProxy.to(database.url);
  surveys = 0;
  proxy.intercept = (chunk) => {
    if (chunk.includes('pg_stats')) surveys++;
    return 'pass';
  };
  dataSource = await new DataSource(dataSourceOptions(proxy.url)).initialize();
  exported = Exports.start(AggregationTemporality.DELTA);
  reports = [];
});

afterEach(async () => {
  await proxy.heal();
  proxy.cut();
  await gauges.stop();
  await exported.stop();
  await dataSource.destroy();
  await proxy.close();
});

function watch(freshForMs?: number): void {
  const figures = new PostgresFigures(dataSource, { acquireTimeoutMs: 60_000, statementTimeoutMs: 60_000 });
  gauges = new Gauges(figures, (message) => void reports.push(message), freshForMs);
  gauges.start(metrics.getMeter('nestjs-idempotency'), (result) => result.observe(0));
}

/** Which gauges of the tables have a value now. */
async function found(): Promise<string[]> {
  const names: string[] = [];
  for (const { descriptor, dataPoints } of await exported.collect()) {
    if (OF_THE_TABLES.includes(descriptor.name) && dataPoints.length > 0) names.push(descriptor.name);
  }
  return names;
}

describe('the gauges of the tables', () => {
  it('ask nothing before somebody collects them, and then not again for a while', async () => {
    watch();
    expect(surveys).toBe(0);
    await Promise.all([found(), found(), found()]);
    expect(await found()).toEqual(OF_THE_TABLES);
    expect(surveys).toBe(1);
  });

  it('ask for one figure at a time, on one connection', async () => {
    watch(0);
    await Promise.all([found(), found(), found()]);
    expect(poolOf(dataSource).totalCount).toBe(1);
  });

  it('are left out while the database is away, which is said once, and are there again when it is', async () => {
    watch(0);
    expect(await found()).toEqual(OF_THE_TABLES);
    await proxy.refuse();
    expect(await found()).toEqual([]);
    expect(await found()).toEqual([]);
    // Once for each figure that is asked for.
    expect(reports).toHaveLength(3);
    await proxy.heal();
    expect(await found()).toEqual(OF_THE_TABLES);
    await proxy.refuse();
    expect(await found()).toEqual([]);
    expect(reports).toHaveLength(6);
  });

  it('are left out of a collection that a silent database would hold up', async () => {
    watch(0);
    proxy.stall();
    // The database would be waited for for a minute.
    expect(await found()).toEqual([]);
  });

  it('are not collected any more once the application has stopped', async () => {
    watch(0);
    await found();
    await gauges.stop();
    const before = surveys;
    expect(await found()).toEqual([]);
    expect(surveys).toBe(before);
  });
});

describe('a figure', () => {
  it('is left out where too many records stand before the one that would tell', async () => {
    await dataSource.query(`
      INSERT INTO idempotency_records (tenant, endpoint, key, fingerprint, state, has_steps, created_at, expires_at)
      SELECT 'acme', 'stuck', at::text, '\\x01', CASE WHEN at < 10000 THEN 'in_progress' ELSE 'completed' END, at < 10000,
        now(), now() - interval '2 days' + at * interval '1 second'
      FROM generate_series(0, 10000) AS at`);
    try {
      const figures = new PostgresFigures(dataSource, { acquireTimeoutMs: 60_000, statementTimeoutMs: 60_000 });
      expect(await figures.sweepLagMs()).toBeNull();
      await dataSource.query(`DELETE FROM idempotency_records WHERE key = '0'`);
      expect(await figures.sweepLagMs()).toBeGreaterThan(24 * 60 * 60 * 1000);
      watch();
      expect(await found()).toEqual(OF_THE_TABLES);
    } finally {
      await dataSource.query('TRUNCATE idempotency_records');
    }
  });

  it('is never worth a walk through the table of records', async () => {
    watch();
    await dataSource.query(`
      INSERT INTO idempotency_records (tenant, endpoint, key, fingerprint, state, created_at, expires_at)
      SELECT 'acme', 'bulk', at::text, '\\x01', 'completed', now(), now() + at * interval '1 second'
      FROM generate_series(-3000, 20000) AS at`);
    await dataSource.query('ANALYZE idempotency_records');
    const { records, unknown, sweepLagMs } = figureStatementsFor(recordNames(dataSource), stepNames(dataSource));
    const asked: [Statement, unknown[]][] = [
      [records, ['idempotency_records', 'state']],
      [unknown, [10_000]],
      [sweepLagMs, [10_000]],
    ];
    for (const [{ text }, values] of asked) {
      const plan = JSON.stringify(await dataSource.query(`EXPLAIN (FORMAT JSON) ${text}`, values));
      expect(plan).not.toMatch(/"Seq Scan"[^{}]*"Relation Name":"idempotency_records"/);
    }
    expect(await found()).toEqual(OF_THE_TABLES);
  });
});
