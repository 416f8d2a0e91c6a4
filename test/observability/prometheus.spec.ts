import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { IdempotentOperations } from 'nestjs-idempotency';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { shortly } from '../messages/shortly.js';
import { gate } from '../module/gate.js';
import { pay, prepareDatabase, startWorkApp, type Work, type WorkApp } from '../module/work-app.js';
import { isInstalled } from './program.js';
import { Prometheus } from './prometheus.js';
import { alerts, dashboard, type Panel, queries, queriesOf } from './written.js';

// It scrapes and looks at its rules every five seconds.
jest.setTimeout(90_000);

const described = isInstalled('prometheus', 'a real Prometheus that is asked what dashboard and alerts ask')
  ? describe
  : describe.skip;

described('a Prometheus with the files that compose mounts', () => {
  let database: TestDatabase;
  let endpoint: Server;
  let provider: MeterProvider;
  let app: WorkApp;
  let prometheus: Prometheus;

  beforeAll(async () => {
    database = await createTestDatabase();
    await prepareDatabase(database.url);
    const exporter = new PrometheusExporter({ preventServerStart: true });
    provider = new MeterProvider({ readers: [exporter] });
    metrics.setGlobalMeterProvider(provider);
    endpoint = createServer((request, response) => exporter.getMetricsRequestHandler(request, response));
    await once(endpoint.listen(0, '127.0.0.1'), 'listening');
    app = await startWorkApp({ url: database.url, idempotency: { sweep: false } });
    await everythingHappens();
    // What is read of the tables is kept for some time: it is read first when there is something in them.
    await app.witness.rows('ANALYZE idempotency_records');
    prometheus = await Prometheus.start(`127.0.0.1:${(endpoint.address() as AddressInfo).port}`);
  });

  afterAll(async () => {
    await prometheus?.stop();
    await app?.stop();
    await provider?.shutdown();
    metrics.disable();
    endpoint?.close();
    await database?.drop();
  });

  /** Every kind of outcome that a panel or an alert is about, and a sweep. */
  async function everythingHappens(): Promise<void> {
    const key = randomUUID();
    for (let times = 0; times < 2; times++) await app.attempt((manager, run) => pay(manager, run, 'paid'), key);
    const broken: Work = (manager) => manager.query('COMMIT');
    const answers = [
      await app.post('/work', { key, body: { another: 'request' } }),
      await app.attempt(broken),
      ...(await Promise.all([loses(), loses(), loses()])).flat(),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 500, 409, 409, 409, 409, 409, 409]);
    await app.witness.rows(`UPDATE idempotency_records SET expires_at = now() - interval '1 s' WHERE key = $1`, key);
    expect(await app.app.get(IdempotentOperations).sweep()).toBe(1);
  }

  /** An attempt that is overtaken while its work runs; and before that, a second one that meets it. */
  async function loses() {
    const key = randomUUID();
    const [entered, taken] = [gate(), gate()];
    const attempt = app.attempt(async () => {
      entered.open();
      await taken.passed;
    }, key);
    await entered.passed;
    const duplicate = await app.post('/work', { key });
    await app.witness.rows('UPDATE idempotency_records SET token = gen_random_uuid() WHERE key = $1', key);
    taken.open();
    return [duplicate, await attempt];
  }

  it.each(queries)('understands the query of $where', async ({ expr }) => {
    await prometheus.query(expr);
  });

  it('has something to show in every panel', async () => {
    const count = 'sum(idempotency_outcomes_total)';
    const scraped = async () => (await prometheus.query(count))[0]?.value ?? 0;
    await shortly(async () => (await scraped()) > 0);
    const before = await scraped();
    // Rates take two scrapes with something in between.
    await everythingHappens();
    await shortly(async () => (await scraped()) === 2 * before);

    const isEmpty = async (panel: Panel): Promise<boolean> => {
      const results = await Promise.all(queriesOf(panel).map(({ expr }) => prometheus.query(expr)));
      return results.some((samples) => samples.filter(({ value }) => !Number.isNaN(value)).length === 0);
    };
    let empty: string[] = [];
    await shortly(async () => {
      const emptiness = await Promise.all(dashboard.panels.map(isEmpty));
      empty = dashboard.panels.filter((_, at) => emptiness[at]).map(({ title }) => title);
      return empty.length === 0;
    }).catch(() => expect(empty).toEqual([]));
  });

  it('fires the alerts that are due at once, and no other', async () => {
    const firing = async (): Promise<string[]> => {
      const samples = await prometheus.query('ALERTS{alertstate="firing"}');
      return samples.map(({ metric }) => `${metric['alertname']} ${metric['idempotency_endpoint']}`).sort();
    };
    const due = ['IdempotencyClaimsLost POST /work', 'IdempotencyWorkBroken POST /work'];
    await shortly(async () => (await firing()).length >= due.length);
    expect(await firing()).toEqual(due);
  });

  it('has found nothing to complain of in any rule', async () => {
    const rules = await prometheus.rules();
    expect(rules.map(({ name, health }) => [name, health])).toEqual(alerts.map(({ alert }) => [alert, 'ok']));
  });
});
