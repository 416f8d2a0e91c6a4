import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { IdempotentOperation } from 'nestjs-idempotency';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { pay, prepareDatabase } from '../module/work-app.js';
import { Witness } from '../module/witness.js';
import { DoomedProcess } from './doomed.js';
import { failing, message, pass, paying, recordOf, request, type ServiceApp, startServiceApp } from './service-app.js';

jest.setTimeout(120_000);

let database: TestDatabase;
let witness: Witness;
let app: ServiceApp;
let other: ServiceApp;

/** What a process had begun when it was killed. */
const deadly = message({ maxTries: 2 });
const mixed = message({ maxTries: 2 });
const last = message({ maxTries: 3 });
const leased = request();
const inTransaction = request({ claim: 'transaction' });
const charged = request({ transaction: 'manual' });
let providerKey: unknown;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  witness = await Witness.of(database.url);
  app = await startServiceApp({ url: database.url });
  other = await startServiceApp({ url: database.url });
  const doomed = await DoomedProcess.start(database.url);
  try {
    for (const consume of [deadly, mixed, last]) expect(await doomed.begin({ consume })).toBe(1);
    for (const run of [leased, inTransaction]) expect(await doomed.begin({ run })).toBe(1);
    expect(await doomed.begin({ charge: charged })).toBe(1);
    providerKey = await doomed.told('called');
  } finally {
    await doomed.kill(witness);
  }
});

afterAll(async () => {
  await app?.stop();
  await other?.stop();
  await witness?.close();
  await database?.drop();
});

const code = (name: string) => expect.objectContaining({ name: 'IdempotencyError', code: `idempotency-${name}` });

describe('the tries of a message', () => {
  it('are counted over two applications', async () => {
    const delivered = message({ maxTries: 3 });
    const kinds: string[] = [];
    for (const at of [app, other, app]) kinds.push((await at.service.consume(delivered, failing())).kind);
    expect(kinds).toEqual(['retry', 'retry', 'park']);
    expect(await other.service.consume(delivered, paying())).toMatchObject({
      outcome: { kind: 'executed', value: { attempts: 1 } },
    });
  });

  it('count deaths: when it has killed as many workers as it may, it is parked without being run', async () => {
    for (const { key } of [deadly, mixed, last]) {
      expect(await witness.payments(key)).toEqual([]);
      expect(await recordOf(witness, key)).toMatchObject({ state: 'in_progress', attempts: 1, is_live: true });
    }
    const early = await app.service.consume(deadly, paying());
    expect(early).toEqual({ kind: 'retry', afterMs: 5_000, error: code('request-in-progress') });
    for (const { key } of [deadly, mixed, last]) await pass(witness, key);

    // The second try fails where the first has died.
    expect(await app.service.consume(mixed, failing())).toMatchObject({ kind: 'park', reason: 'failed_too_often' });
    expect(await recordOf(witness, mixed.key)).toBeUndefined();

    const doomed = await DoomedProcess.start(database.url);
    try {
      for (const consume of [deadly, last]) expect(await doomed.begin({ consume })).toBe(2);
    } finally {
      await doomed.kill(witness);
    }
    for (const { key } of [deadly, last]) await pass(witness, key);
    const work = paying();
    expect(await app.service.consume(deadly, work)).toEqual({
      kind: 'park',
      reason: 'failed_too_often',
      error: code('work-broken'),
    });
    expect([work.seen.runs, await recordOf(witness, deadly.key)]).toEqual([0, undefined]);
    expect(await app.service.consume(last, work)).toMatchObject({ outcome: { value: { attempts: 3 } } });

    // Brought back by somebody who has mended what it died of.
    expect(await other.service.consume(deadly, work)).toMatchObject({ outcome: { value: { attempts: 1 } } });
    expect(await app.service.consume(deadly, work)).toMatchObject({ outcome: { kind: 'replayed' } });
    expect([work.seen.runs, await witness.payments(deadly.key)]).toEqual([2, ['paid']]);
  });
});

describe('an operation whose process was killed', () => {
  it('is run by another: at once where the claim was its transaction, or else when its lease has run out', async () => {
    expect(await app.service.run(inTransaction, paying())).toMatchObject({ kind: 'executed', value: { attempts: 1 } });
    await expect(app.service.run(leased, paying())).rejects.toEqual(code('request-in-progress'));
    await pass(witness, leased.key);
    expect(await app.service.run(leased, paying())).toMatchObject({ kind: 'executed', value: { attempts: 2 } });
    for (const { key } of [leased, inTransaction]) expect(await witness.payments(key)).toEqual(['paid']);
  });

  it('is not called again for a step that was done, and commits once', async () => {
    await pass(witness, charged.key);
    const [step] = await witness.rows('SELECT name, provider_key FROM idempotency_steps WHERE key = $1', charged.key);
    expect(step).toEqual({ name: 'charge', provider_key: providerKey });

    const calls: string[] = [];
    const charge = async (operation: IdempotentOperation) => {
      const result = await operation.step('charge', (call) => {
        calls.push(call.providerKey);
        return Promise.resolve({ charged: 'again' });
      });
      await operation.commit((manager) => pay(manager, operation.key, result.charged));
      return result;
    };
    expect(await app.service.run(charged, charge)).toEqual({ kind: 'executed', value: { charged: 'by the dead' } });
    expect(await other.service.run(charged, charge)).toEqual({ kind: 'replayed', value: { charged: 'by the dead' } });
    expect([calls, await witness.payments(charged.key)]).toEqual([[], ['by the dead']]);
    expect(await witness.rows('SELECT FROM idempotency_steps WHERE key = $1', charged.key)).toEqual([]);
  });
});

describe('a message that makes steps', () => {
  const manual = (own = {}) => message({ transaction: 'manual', ...own });

  /** Charges, and does what else there is to do. */
  const charging = (calls: string[], then: (operation: IdempotentOperation) => Promise<unknown>) => {
    return async (operation: IdempotentOperation) => {
      await operation.step('charge', ({ providerKey }) => Promise.resolve(calls.push(providerKey)));
      return then(operation);
    };
  };

  it('keeps them with its tries, also when it is parked: brought back, it does not call again', async () => {
    const delivered = manual({ maxTries: 2 });
    const calls: string[] = [];
    const work = charging(calls, () => Promise.reject(new Error('The ledger is closed.')));
    expect(await app.service.consume(delivered, work)).toMatchObject({ kind: 'retry' });
    expect(await other.service.consume(delivered, work)).toMatchObject({ kind: 'park', reason: 'failed_too_often' });
    expect(await recordOf(witness, delivered.key)).toMatchObject({ state: 'in_progress', attempts: 0, is_live: null });

    const mended = charging(calls, async (operation) => {
      await operation.commit((manager) => pay(manager, operation.key, 'paid'));
      return operation.attempts;
    });
    expect(await app.service.consume(delivered, mended)).toEqual({
      kind: 'acknowledge',
      outcome: { kind: 'executed', value: 1 },
    });
    expect([calls.length, await witness.payments(delivered.key)]).toEqual([1, ['paid']]);
  });

  it('comes again, however often, while nobody knows what has become of one', async () => {
    const delivered = manual({ maxTries: 1 });
    const calls: string[] = [];
    const unknown = async (operation: IdempotentOperation) => {
      await operation.step(
        'charge',
        ({ providerKey }) => {
          calls.push(providerKey);
          return Promise.reject(new Error('No answer.'));
        },
        { whenUnknown: 'hold' },
      );
    };
    for (let delivery = 0; delivery < 3; delivery++) {
      expect(await app.service.consume(delivered, unknown)).toMatchObject({
        kind: 'retry',
        error: code('outcome-unknown'),
      });
    }
    expect(calls).toHaveLength(1);
  });
});
