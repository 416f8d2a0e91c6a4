import { randomUUID } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { serveMetrics } from '../../apps/payments/src/metrics/serve-metrics.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { type Demo, startDemo } from './demo.js';

jest.setTimeout(30_000);

let database: TestDatabase;
let demo: Demo;
let metricsUrl: string;
let stopMetrics: () => Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  stopMetrics = await serveMetrics(port);
  metricsUrl = `http://localhost:${port}/metrics`;
  demo = await startDemo(database.url);
});

afterAll(async () => {
  await demo?.stop();
  await stopMetrics?.();
  await database?.drop();
});

describe('the metrics of the demo', () => {
  it('are there for Prometheus', async () => {
    const key = randomUUID();
    const payment = { amount: 4999, currency: 'usd', source: 'acct_alice', destination: 'acct_shop' };
    for (const status of [201, 201]) expect((await demo.post('/payments', payment, { key })).status).toBe(status);
    const text = await (await fetch(metricsUrl)).text();
    const endpoint = 'idempotency_endpoint="POST /payments"';
    for (const outcome of ['executed', 'replayed']) {
      expect(text).toMatch(
        new RegExp(
          `^idempotency_outcomes_total\\{${endpoint},idempotency_outcome="${outcome}",idempotency_channel="http".*\\} 1$`,
          'm',
        ),
      );
    }
    expect(text).toMatch(/^idempotency_claim_duration_bucket\{.*le="0.001".*\} \d+$/m);
    expect(text).not.toContain(key);
  });
});
