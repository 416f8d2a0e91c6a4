import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

import { VERSION } from '../../libs/idempotency/src/telemetry/version.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { pay, prepareDatabase, type Work } from '../module/work-app.js';
import { Exports } from './exports.js';
import { startWatchedApp, type WatchedApp } from './watched-app.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let exported: Exports;
let app: WatchedApp;

/** The spans that an instrumented application and its clients would make around the library's. */
const inSpan = <Result>(name: string, run: () => Promise<Result>): Promise<Result> =>
  trace.getTracer('tests').startActiveSpan(name, (span: Span) => run().finally(() => span.end()));

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  exported = Exports.start();
  app = await startWatchedApp({
    url: database.url,
    serverSpan: (next) => trace.getTracer('tests').startActiveSpan('server', (span) => next(() => span.end())),
  });
});

afterAll(async () => {
  await app?.stop();
  await exported?.stop();
  await database?.drop();
});

beforeEach(() => exported.clear());

/** Each span with the one that it is in: those that begin in the same millisecond have no order. */
function tree(): string[] {
  const nameOf = new Map(exported.spans.map((span) => [span.spanContext().spanId, span.name]));
  return exported.spans.map((span) => `${span.name} in ${nameOf.get(span.parentSpanContext?.spanId ?? '')}`).sort();
}

const spanOf = (name: string): ReadableSpan => {
  const found = exported.spans.filter((span) => span.name === name);
  expect(found).toHaveLength(1);
  return found[0]!;
};

const paying: Work = async (manager, run) => {
  await inSpan('insert', () => pay(manager, run, 'paid'));
};

describe('a request', () => {
  it('is claimed, worked on and recorded where it arrived, with what its handler does inside its work', async () => {
    await app.attempt(paying);
    expect(tree()).toEqual([
      'idempotency.claim in server',
      'idempotency.record in server',
      'idempotency.work in server',
      'insert in idempotency.work',
      'server in undefined',
    ]);
    const { instrumentationScope } = spanOf('idempotency.claim');
    expect(instrumentationScope).toMatchObject({ name: 'nestjs-idempotency', version: VERSION });
  });

  it('says which operation it was, and what came of it', async () => {
    await app.attempt(paying);
    const { keyHash } = app.events.at(-1)!;
    const same = {
      'idempotency.channel': 'http',
      'idempotency.endpoint': 'POST /work',
      'idempotency.key_hash': keyHash,
      'idempotency.attempts': 1,
    };
    expect(keyHash).toMatch(/^[0-9a-f]{16}$/);
    expect(spanOf('idempotency.claim').attributes).toEqual({ ...same, 'idempotency.decision': 'claimed' });
    expect(spanOf('idempotency.work').attributes).toEqual(same);
    expect(spanOf('idempotency.record').attributes).toEqual({ ...same, 'idempotency.outcome': 'executed' });
  });

  it('has no work of its own when it is a retry, and nothing of the first one', async () => {
    const key = randomUUID();
    await app.attempt(paying, key);
    exported.clear();
    await app.attempt(paying, key);
    expect(tree()).toEqual(['idempotency.claim in server', 'server in undefined']);
    const { attributes, links } = spanOf('idempotency.claim');
    expect(attributes).toMatchObject({ 'idempotency.decision': 'replay' });
    expect(links).toEqual([]);
  });
});

describe('a step', () => {
  it('is a part of the work, and its call a part of the step', async () => {
    const call = () => inSpan('call', () => Promise.resolve('ch_1'));
    await app.play(randomUUID(), async (operation) => {
      const charge = await inSpan('before', () => operation.step('charge', call));
      return operation.commit((manager) => inSpan('insert', () => pay(manager, operation.key, charge)));
    });
    expect(tree()).toEqual([
      'before in idempotency.work',
      'call in idempotency.step charge',
      'idempotency.claim in server',
      'idempotency.record in server',
      'idempotency.step charge in before',
      'idempotency.work in server',
      'insert in idempotency.work',
      'server in undefined',
    ]);
  });
});

describe('plain code', () => {
  it('is followed where it was called', async () => {
    const request = { tenant: 'acme', endpoint: 'jobs', key: randomUUID(), payload: {} };
    await inSpan('job', () =>
      app.service.run(request, ({ manager }) => inSpan('insert', () => manager.query('SELECT'))),
    );
    expect(tree()).toEqual([
      'idempotency.claim in job',
      'idempotency.record in job',
      'idempotency.work in job',
      'insert in idempotency.work',
      'job in undefined',
    ]);
  });
});

describe('a failure', () => {
  const ERROR = { code: SpanStatusCode.ERROR };

  it('is an error of the part that failed, by the name of what was thrown alone', async () => {
    class LedgerClosedError extends Error {
      override readonly name = 'LedgerClosedError';
      readonly code = 'account 4711';
    }
    await app.attempt(() => Promise.reject(new LedgerClosedError('Account 4711 is closed.')));
    expect(spanOf('idempotency.claim').status).toEqual({ code: SpanStatusCode.UNSET });
    const { status, events } = spanOf('idempotency.work');
    expect(status).toEqual(ERROR);
    expect(events.map(({ attributes }) => attributes)).toEqual([{ 'exception.type': 'LedgerClosedError' }]);
    expect(await exported.text()).not.toContain('4711');
  });

  it('is told by its code where it is one of the library', async () => {
    await app.play(randomUUID(), (operation) => operation.step('charge', () => Promise.reject(new Error('Cut off.'))));
    const { status, events } = spanOf('idempotency.step charge');
    expect(status).toEqual(ERROR);
    expect(events.map(({ attributes }) => attributes)).toEqual([{ 'exception.type': 'idempotency-outcome-unknown' }]);
  });

  it('is one of the recording where the claim was lost', async () => {
    const key = randomUUID();
    await app.attempt(async () => {
      await app.witness.rows('UPDATE idempotency_records SET token = gen_random_uuid() WHERE key = $1', key);
    }, key);
    const { status, attributes } = spanOf('idempotency.record');
    expect(status).toEqual(ERROR);
    expect(attributes).toMatchObject({ 'idempotency.outcome': 'lost' });
  });
});
