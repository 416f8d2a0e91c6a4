import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { aes256Gcm, type OperationRequest } from 'nestjs-idempotency';
import type { EntityManager } from 'typeorm';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually, gate } from '../module/gate.js';
import { Witness } from '../module/witness.js';
import { pay, prepareDatabase } from '../module/work-app.js';
import { failing, pass, paying, recordOf, request, type ServiceApp, startServiceApp } from './service-app.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let witness: Witness;
let app: ServiceApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  witness = await Witness.of(database.url);
  app = await startServiceApp({ url: database.url, typeorm: { poolSize: 3 } });
});

afterAll(async () => {
  await app?.stop();
  await witness?.close();
  await database?.drop();
});

afterEach(async () => {
  await eventually('every connection is back in the pool', () => app.isPoolAtRest());
});

const code = (name: string) => expect.objectContaining({ name: 'IdempotencyError', code: `idempotency-${name}` });

/** Work that pays and then stands inside until it is told to go on. */
function held() {
  const [entered, go] = [gate(), gate()];
  const work = async ({ manager, key }: { readonly manager: EntityManager; readonly key: string }) => {
    await pay(manager, key, 'held');
    entered.open();
    await go.passed;
    return { by: 'the first' };
  };
  return { work, entered, go };
}

describe('run()', () => {
  it('runs the work once, and gives its value to whoever asks again', async () => {
    const asked = request();
    const work = paying();
    expect(await app.service.run(asked, work)).toEqual({ kind: 'executed', value: { label: 'paid', attempts: 1 } });
    for (let again = 0; again < 2; again++) {
      expect(await app.service.run(asked, work)).toEqual({ kind: 'replayed', value: { label: 'paid', attempts: 1 } });
    }
    expect([work.seen.runs, await witness.payments(asked.key)]).toEqual([1, ['paid']]);
    expect(await recordOf(witness, asked.key)).toMatchObject({
      tenant: '',
      endpoint: 'jobs',
      state: 'completed',
      body: '[1,{"label":"paid","attempts":1}]',
      response_status: 200,
      retained_hours: 24,
    });
  });

  it('gives the first the same plain data as everybody after', async () => {
    class Invoice {
      constructor(
        readonly total: bigint,
        readonly due: Date,
      ) {}
      get isDue(): boolean {
        return true;
      }
    }
    const asked = request();
    const work = () => ({ invoice: new Invoice(5n, new Date(0)), bytes: Buffer.from('a'), none: undefined });
    const first = await app.service.run(asked, work);
    expect(first.value).toStrictEqual({
      invoice: { total: 5n, due: new Date(0) },
      bytes: Uint8Array.of(97),
      none: undefined,
    });
    expect((await app.service.run(asked, work)).value).toStrictEqual(first.value);
  });

  it('takes work that awaits nothing and returns nothing', async () => {
    const asked = request({ payload: undefined });
    expect(await app.service.run(asked, () => undefined)).toEqual({ kind: 'executed', value: undefined });
    expect(await app.service.run(asked, () => 1)).toEqual({ kind: 'replayed', value: undefined });
  });

  it.each<[what: string, other: Partial<OperationRequest>]>([
    ['another key', { key: randomUUID() }],
    ['another endpoint', { endpoint: 'other jobs' }],
    ['another tenant', { tenant: 'acme' }],
  ])('knows nothing of %s', async (_, other) => {
    const asked = request();
    const works = [paying('one'), paying('other')] as const;
    expect((await app.service.run(asked, works[0])).kind).toBe('executed');
    expect((await app.service.run({ ...asked, ...other }, works[1])).kind).toBe('executed');
  });

  it('has IdempotencyContext know the operation, and its manager', async () => {
    const asked = request();
    const { context } = app;
    const done: string[] = [];
    expect(context.isActive).toBe(false);
    await app.service.run(asked, async ({ manager }) => {
      expect(context.operation).toEqual({ tenant: '', endpoint: 'jobs', key: asked.key });
      expect(context.manager).toBe(manager);
      context.afterCommit(() => done.push('after'));
      await pay(context.manager, asked.key, 'by the context');
      done.push('work');
    });
    expect([done, await witness.payments(asked.key)]).toEqual([['work', 'after'], ['by the context']]);
    expect(context.isActive).toBe(false);
  });
});

describe('work that fails', () => {
  it.each<[what: string, thrown: unknown]>([
    ['an error', new Error('no funds')],
    ['no error', { reason: 'no funds' }],
    ['undefined', undefined],
  ])('with %s is undone, and what it threw is thrown', async (_, thrown) => {
    const asked = request();
    const calls: string[] = [];
    const rejected = app.service.run(asked, async (operation) => {
      operation.afterCommit(() => calls.push('after'));
      await failing()(operation).catch(() => undefined);
      throw thrown;
    });
    await expect(rejected.catch((error: unknown) => [error])).resolves.toEqual([thrown]);
    expect(await rejected.catch((error: unknown) => error)).toBe(thrown);
    expect([calls, await witness.payments(asked.key), await recordOf(witness, asked.key)]).toEqual([[], [], undefined]);

    expect(await app.service.run(asked, paying())).toMatchObject({ kind: 'executed', value: { attempts: 1 } });
    expect(await witness.payments(asked.key)).toEqual(['paid']);
  });

  it('may carry another payload afterwards', async () => {
    const asked = request();
    await expect(app.service.run(asked, failing())).rejects.toThrow('The work failed.');
    expect((await app.service.run({ ...asked, payload: 'corrected' }, paying())).kind).toBe('executed');
  });

  it.each<[what: string, value: unknown]>([
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a value whose written form throws', { toJSON: () => JSON.parse('{') as unknown }],
  ])('by returning what cannot be kept, %s, is undone', async (_, value) => {
    const asked = request();
    const returning = async ({ manager, key }: { readonly manager: EntityManager; readonly key: string }) => {
      await pay(manager, key, 'undone');
      return value;
    };
    await expect(app.service.run(asked, returning)).rejects.toThrow(Error);
    expect([await witness.payments(asked.key), await recordOf(witness, asked.key)]).toEqual([[], undefined]);
  });

  it('because its value cannot be encrypted is undone', async () => {
    const protect = { seal: () => Promise.reject(new Error('no key')), open: () => Buffer.of() };
    const asked = request({ protect });
    await expect(app.service.run(asked, paying())).rejects.toThrow('no key');
    expect([await witness.payments(asked.key), await recordOf(witness, asked.key)]).toEqual([[], undefined]);
  });

  it('by swallowing the error of a query is undone', async () => {
    const asked = request();
    const swallowing = async ({ manager, key }: { readonly manager: EntityManager; readonly key: string }) => {
      await pay(manager, key, 'undone');
      await manager.query('SELECT 1/0').catch(() => undefined);
    };
    await expect(app.service.run(asked, swallowing)).rejects.toEqual(code('work-broken'));
    expect([await witness.payments(asked.key), await recordOf(witness, asked.key)]).toEqual([[], undefined]);
  });

  it('by going on after its return writes nothing', async () => {
    const asked = request();
    const after = gate();
    let late: Promise<unknown> | undefined;
    await app.service.run(asked, ({ manager, key }) => {
      late = after.passed.then(() => pay(manager, key, 'late'));
      late.catch(() => undefined);
    });
    after.open();
    await expect(late).rejects.toThrow(Error);
    expect(await witness.payments(asked.key)).toEqual([]);
  });
});

describe('an operation in progress', () => {
  it('is refused at once, with the time its lease has left, and its other payload as a mismatch', async () => {
    const asked = request();
    const { work, entered, go } = held();
    const first = app.service.run(asked, work);
    await entered.passed;
    const second = await app.service.run(asked, paying()).catch((error: unknown) => error);
    expect(second).toEqual(code('request-in-progress'));
    expect((second as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(30_000);
    await expect(app.service.run({ ...asked, payload: 'other' }, paying())).rejects.toEqual(code('key-reused'));
    go.open();
    expect(await first).toEqual({ kind: 'executed', value: { by: 'the first' } });
    await expect(app.service.run({ ...asked, payload: 'other' }, paying())).rejects.toEqual(code('key-reused'));
    expect(await witness.payments(asked.key)).toEqual(['held']);
  });

  it('is waited for with patience, without a connection', async () => {
    const waiter = await startServiceApp({
      url: database.url,
      typeorm: { poolSize: 1, applicationName: 'waiter' },
      idempotency: { patience: '30s' },
    });
    try {
      const asked = request();
      const { work, entered, go } = held();
      const first = app.service.run(asked, work);
      await entered.passed;
      const second = waiter.service.run(asked, paying());
      await eventually('the second has looked and waits', async () => {
        const looked = await witness.rows(
          `SELECT FROM pg_stat_activity WHERE application_name = 'waiter' AND state = 'idle' AND query LIKE '%lease_left_ms%'`,
        );
        return looked.length > 0 && waiter.isPoolAtRest();
      });
      expect((await waiter.service.run(request(), paying())).kind).toBe('executed');
      go.open();
      await first;
      expect(await second).toEqual({ kind: 'replayed', value: { by: 'the first' } });
    } finally {
      await waiter.stop();
    }
  });

  it('is waited for no longer than its signal says, or its patience', async () => {
    const asked = request();
    const { work, entered, go } = held();
    const first = app.service.run(asked, work);
    await entered.passed;
    const leaving = new AbortController();
    const second = app.service.run({ ...asked, patience: '30s', signal: leaving.signal }, paying());
    leaving.abort();
    await expect(second).rejects.toEqual(code('request-in-progress'));
    await expect(app.service.run({ ...asked, patienceMs: 60 }, paying())).rejects.toEqual(code('request-in-progress'));
    go.open();
    await first;
  });

  it('whose lease has run out is taken over, by the same payload only', async () => {
    const asked = request();
    const { work, entered, go } = held();
    const first = app.service.run(asked, work);
    await entered.passed;
    await pass(witness, asked.key);
    await expect(app.service.run({ ...asked, payload: 'other' }, paying())).rejects.toEqual(code('key-reused'));
    go.open();
    await first;
  });

  it('past its retention is a new one', async () => {
    const asked = request();
    await app.service.run(asked, paying('first'));
    await witness.rows('UPDATE idempotency_records SET expires_at = now() WHERE key = $1', asked.key);
    const again = await app.service.run({ ...asked, payload: 'other' }, paying('second'));
    expect(again).toEqual({ kind: 'executed', value: { label: 'second', attempts: 1 } });
  });
});

describe('what is kept of a value', () => {
  it('is nothing where it is longer than the limit: it is never run again, and says so', async () => {
    const asked = request();
    const large = { text: 'x'.repeat(2 << 20) };
    const first = await app.service.run(asked, async ({ manager, key }) => {
      await pay(manager, key, 'paid');
      return large;
    });
    expect(first.value).toEqual(large);
    await expect(app.service.run(asked, paying())).rejects.toEqual(code('response-unavailable'));
    expect(await witness.payments(asked.key)).toEqual(['paid']);
    expect(await recordOf(witness, asked.key)).toMatchObject({ body: null, response_omitted: 'too_large' });
  });

  it("is nothing with `recording: 'status-only'`: whoever asks again is given undefined", async () => {
    const asked = request({ recording: 'status-only' });
    const token = randomUUID();
    expect(await app.service.run(asked, () => ({ token }))).toEqual({ kind: 'executed', value: { token } });
    expect(await app.service.run(asked, () => ({ token }))).toEqual({ kind: 'replayed', value: undefined });
    expect(await recordOf(witness, asked.key)).toMatchObject({ body: null, response_omitted: null });
  });

  it('is encrypted with `protect`, and only read by who has the key', async () => {
    const protect = aes256Gcm({ keys: { k: randomBytes(32) }, current: 'k' });
    const asked = request({ protect });
    await app.service.run(asked, () => ({ iban: 'GB29' }));
    expect(await app.service.run(asked, () => undefined)).toEqual({ kind: 'replayed', value: { iban: 'GB29' } });
    const record = await recordOf(witness, asked.key);
    expect(record).toMatchObject({ response_key_id: 'k', body: expect.not.stringContaining('GB29') });
    await expect(app.service.run({ ...asked, protect: null }, paying())).rejects.toEqual(code('response-unavailable'));
  });
});

describe('an operation inside another', () => {
  it('is refused, and the outer one may go on', async () => {
    const [outer, inner] = [request(), request()];
    const work = paying();
    await app.service.run(outer, async ({ manager, key }) => {
      await expect(app.service.run(inner, work)).rejects.toEqual(code('work-broken'));
      await pay(manager, key, 'outer');
    });
    expect([work.seen.runs, await witness.payments(outer.key), await recordOf(witness, inner.key)]).toEqual([
      0,
      ['outer'],
      undefined,
    ]);
  });

  it('is refused too where it is a message', async () => {
    const [outer, inner] = [request(), request({ endpoint: 'consumer' })];
    const work = paying();
    await app.service.run(outer, async () => {
      await expect(app.service.consume(inner, work)).rejects.toEqual(code('work-broken'));
      await expect(app.service.consumeAll([inner], () => undefined)).rejects.toEqual(code('work-broken'));
    });
    expect([work.seen.runs, await recordOf(witness, inner.key)]).toEqual([0, undefined]);
  });

  it('with `join: true` is a part of it: one transaction, and no record of its own', async () => {
    const [outer, inner] = [request(), request({ join: true })];
    await app.service.run(outer, async ({ manager, key }) => {
      await pay(manager, key, 'outer');
      const joined = await app.service.run(inner, async (operation) => {
        expect(operation.manager).toBe(manager);
        await pay(operation.manager, operation.key, 'joined');
        return 'joined';
      });
      expect(joined).toEqual({ kind: 'executed', value: 'joined' });
    });
    expect([await witness.payments(outer.key), await recordOf(witness, inner.key)]).toEqual([
      ['joined', 'outer'],
      undefined,
    ]);
  });

  it('with `join: true` is undone with it', async () => {
    const outer = request();
    const joining = app.service.run(outer, async () => {
      await app.service.run(request({ join: true }), paying());
      throw new Error('The outer one failed.');
    });
    await expect(joining).rejects.toThrow('The outer one failed.');
    expect(await witness.payments(outer.key)).toEqual([]);
  });

  it('with `join: true`, and no other around it, is one like any other', async () => {
    const asked = request({ join: true });
    expect((await app.service.run(asked, paying())).kind).toBe('executed');
    expect((await app.service.run(asked, paying())).kind).toBe('replayed');
  });

  it.each(['done', 'failed'])(
    'is one of its own where it comes from code that outlived an outer one that is %s',
    async (end) => {
      const [outer, inner] = [request(), request()];
      const over = gate();
      let outliving: Promise<unknown> | undefined;
      const work = () => {
        outliving = over.passed.then(() => app.service.run(inner, paying()));
        if (end === 'failed') throw new Error('The outer one failed.');
      };
      await app.service.run(outer, work).catch(() => undefined);
      over.open();
      expect(await outliving).toMatchObject({ kind: 'executed' });
      expect(await witness.payments(inner.key)).toEqual(['paid']);
    },
  );
});

describe('a call that is wrong', () => {
  it.each<[what: string, own: object, complaint: RegExp]>([
    ['an option that is none', { leese: '60s' }, /no option `leese`/],
    ['a duration that is none', { lease: 'soon' }, /`lease` must be a positive duration/],
    ['one duration twice', { lease: '60s', leaseMs: 60_000 }, /both `lease` and `leaseMs`/],
    ['a retention shorter than the lease', { retention: '1s' }, /retention .* shorter than the lease/],
    ['an isolation under a lease', { isolation: 'SERIALIZABLE' }, /`isolation` goes with/],
    ['half a protection', { protect: { seal: () => 1 } }, /`protect` must be/],
    ['a number of retries that is none', { conflictRetries: -1 }, /`conflictRetries` must be/],
    ['a recording of no kind', { recording: 'none' }, /`recording` must be one of/],
    ['an empty endpoint', { endpoint: '' }, /`endpoint` must be/],
    ['no endpoint', { endpoint: undefined }, /`endpoint` must be/],
    ['an endpoint that is no text', { endpoint: 'a\0' }, /`endpoint` must be/],
    ['steps without a lease', { transaction: 'manual', claim: 'transaction' }, /steps need `claim: 'lease'`/],
    ['tries for what is no message', { maxTries: 3 }, /no option `maxTries`/],
    ['an option for requests', { errors: () => 'record' }, /no option `errors`/],
  ])('names %s', async (_, own, complaint) => {
    const work = paying();
    await expect(app.service.run({ ...request(), ...own }, work)).rejects.toThrow(complaint);
    expect(work.seen.runs).toBe(0);
  });

  it.each<[what: string, own: object, name: string]>([
    ['an empty key', { key: '' }, 'key-invalid'],
    ['a key that is no text', { key: 7 }, 'key-invalid'],
    ['no key', { key: undefined }, 'key-invalid'],
    ['an empty tenant', { tenant: '' }, 'scope-unresolved'],
    ['a payload that cannot be compared', { payload: new Map() }, 'payload-unsupported'],
  ])('is refused for %s', async (_, own, name) => {
    const work = paying();
    await expect(app.service.run({ ...request(), ...own }, work)).rejects.toEqual(code(name));
    expect(work.seen.runs).toBe(0);
  });

  it('is refused without a tenant, where there are tenants', async () => {
    const tenants = await startServiceApp({
      url: database.url,
      idempotency: { singleTenant: false, tenant: () => 'never asked' },
    });
    try {
      const work = paying();
      await expect(tenants.service.run(request(), work)).rejects.toEqual(code('scope-unresolved'));
      expect(work.seen.runs).toBe(0);
      const asked = request({ tenant: 'acme' });
      await tenants.service.run(asked, work);
      expect(await recordOf(witness, asked.key)).toMatchObject({ tenant: 'acme' });
    } finally {
      await tenants.stop();
    }
  });

  it('is refused for steps, where there is nothing to derive their keys with', async () => {
    const plain = await startServiceApp({ url: database.url, idempotency: { providerKeySecret: undefined as never } });
    try {
      await expect(plain.service.run(request({ transaction: 'manual' }), paying())).rejects.toThrow(
        /providerKeySecret/,
      );
    } finally {
      await plain.stop();
    }
  });
});

describe("`claim: 'transaction'`", () => {
  const inTransaction = () => request({ claim: 'transaction' });

  it('runs once, and replays', async () => {
    const asked = inTransaction();
    expect((await app.service.run(asked, paying())).kind).toBe('executed');
    expect(await app.service.run(asked, paying())).toEqual({ kind: 'replayed', value: { label: 'paid', attempts: 1 } });
    await expect(app.service.run({ ...asked, payload: 'other' }, paying())).rejects.toEqual(code('key-reused'));
  });

  it('leaves no trace while it runs, and none of what failed', async () => {
    const asked = inTransaction();
    const { work, entered, go } = held();
    const first = app.service.run(asked, async (operation) => {
      await work(operation);
      throw new Error('It failed after all.');
    });
    await entered.passed;
    expect(await recordOf(witness, asked.key)).toBeUndefined();
    await expect(app.service.run(asked, paying())).rejects.toEqual(code('request-in-progress'));
    // Whose payload it is cannot be seen yet.
    await expect(app.service.run({ ...asked, payload: 'other' }, paying())).rejects.toEqual(
      code('request-in-progress'),
    );
    go.open();
    await expect(first).rejects.toThrow('It failed after all.');
    expect([await witness.payments(asked.key), await recordOf(witness, asked.key)]).toEqual([[], undefined]);
    expect((await app.service.run(asked, paying())).kind).toBe('executed');
  });

  it('works in the isolation it is told', async () => {
    const asked = request({ claim: 'transaction', isolation: 'SERIALIZABLE' });
    const { value } = await app.service.run(asked, async ({ manager }) => {
      const [row] = await manager.query<[{ transaction_isolation: string }]>('SHOW transaction_isolation');
      return row.transaction_isolation;
    });
    expect(value).toBe('serializable');
  });
});
