import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { ConsumedMessage, IdempotentOperation, MessageOptions, Settlement } from 'nestjs-idempotency';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually, gate } from '../module/gate.js';
import { Logbook } from '../module/listening.js';
import { pay, prepareDatabase } from '../module/work-app.js';
import { Witness } from '../module/witness.js';
import { failing, message, pass, paying, recordOf, request, type ServiceApp, startServiceApp } from './service-app.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let witness: Witness;
let app: ServiceApp;
const logbook = new Logbook();

/** What the application was told of, and what it makes of it. */
const told: [endpoint: string, settlement: Settlement][] = [];
let onSettled: NonNullable<MessageOptions['onSettled']> = () => undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  witness = await Witness.of(database.url);
  app = await startServiceApp({
    url: database.url,
    logbook,
    typeorm: { poolSize: 3 },
    idempotency: {
      retention: '2h',
      messages: {
        onSettled: (endpoint, settlement) => {
          told.push([endpoint, settlement]);
          return onSettled(endpoint, settlement);
        },
      },
    },
  });
});

afterEach(async () => {
  onSettled = () => undefined;
  await eventually('every connection is back in the pool', () => app.isPoolAtRest());
});

afterAll(async () => {
  await app?.stop();
  await witness?.close();
  await database?.drop();
});

const code = (name: string) => expect.objectContaining({ name: 'IdempotencyError', code: `idempotency-${name}` });

describe('a message', () => {
  it('is handled once: a duplicate is acknowledged with the recorded value, and does not run', async () => {
    const delivered = message();
    const work = paying();
    const value = { label: 'paid', attempts: 1 };
    expect(await app.service.consume(delivered, work)).toEqual({
      kind: 'acknowledge',
      outcome: { kind: 'executed', value },
    });
    expect(await app.service.consume(delivered, work)).toEqual({
      kind: 'acknowledge',
      outcome: { kind: 'replayed', value },
    });
    expect([work.seen.runs, await witness.payments(delivered.key)]).toEqual([1, ['paid']]);
  });

  it('is recognised by the id that it carries', async () => {
    const [source, id] = ['/orders', randomUUID()];
    const { key: _, ...delivered } = message({
      headers: { 'ce-source': source, 'ce-id': id },
      messageId: randomUUID(),
    });
    await app.service.consume(delivered, paying());
    const again = await app.service.consume({ ...delivered, messageId: randomUUID() }, paying());
    expect(again).toMatchObject({ kind: 'acknowledge', outcome: { kind: 'replayed' } });
    expect(await witness.payments(JSON.stringify([source, id]))).toEqual(['paid']);
  });

  it('that two consumers are given is handled by each of them', async () => {
    const delivered = message();
    for (const [endpoint, label] of [
      ['ledger', 'by the ledger'],
      ['mailer', 'by the mailer'],
    ] as const) {
      expect(await app.service.consume({ ...delivered, endpoint }, paying(label))).toMatchObject({
        outcome: { kind: 'executed' },
      });
    }
    expect(await witness.payments(delivered.key)).toEqual(['by the ledger', 'by the mailer']);
  });

  it('is not acknowledged while its first delivery is being handled: it has to come again', async () => {
    const delivered = message();
    const [entered, go] = [gate(), gate()];
    const first = app.service.consume(delivered, async ({ manager, key }) => {
      await pay(manager, key, 'first');
      entered.open();
      await go.passed;
    });
    await entered.passed;
    const work = paying();
    const second = await app.service.consume(delivered, work);
    expect(second).toEqual({ kind: 'retry', afterMs: 5_000, error: code('request-in-progress') });
    go.open();
    expect(await first).toMatchObject({ kind: 'acknowledge', outcome: { kind: 'executed' } });
    expect([work.seen.runs, await witness.payments(delivered.key)]).toEqual([0, ['first']]);
  });

  it('with an id that was used by another content is parked, in every state, and never acknowledged', async () => {
    const delivered = message();
    const other = { ...delivered, payload: { order: 8 } };
    const work = paying('other');
    const expectParked = async () =>
      expect(await app.service.consume(other, work)).toEqual({
        kind: 'park',
        reason: 'mismatch',
        error: code('key-reused'),
      });
    const [entered, go] = [gate(), gate()];
    const first = app.service.consume(delivered, async () => {
      entered.open();
      await go.passed;
      throw new Error('The work failed.');
    });
    await entered.passed;
    await expectParked();
    go.open();
    await first;
    await expectParked();
    await app.service.consume(delivered, paying());
    await expectParked();
    expect([work.seen.runs, await witness.payments(delivered.key)]).toEqual([0, ['paid']]);
  });

  it('whose work fails is undone, and comes again', async () => {
    const delivered = message();
    const error = new Error('no funds');
    const settlement = await app.service.consume(delivered, failing(error));
    expect(settlement).toEqual({ kind: 'retry', afterMs: expect.any(Number), error });
    expect((settlement as { error: unknown }).error).toBe(error);
    expect(await witness.payments(delivered.key)).toEqual([]);
    expect(await app.service.consume(delivered, paying())).toMatchObject({
      kind: 'acknowledge',
      outcome: { kind: 'executed', value: { attempts: 2 } },
    });
    expect(await witness.payments(delivered.key)).toEqual(['paid']);
  });

  it.each<[what: string, own: object, reason: string, name: string]>([
    ['no id', { key: undefined, messageId: undefined }, 'unidentified', 'key-missing'],
    ['an empty id', { key: '' }, 'unidentified', 'key-invalid'],
    ['an id that is no text', { key: 7 }, 'unidentified', 'key-invalid'],
    ['an id that is too long', { key: 'x'.repeat(256) }, 'unidentified', 'key-invalid'],
    ['a payload that cannot be compared', { payload: { at: new Date(0) } }, 'unreadable', 'payload-unsupported'],
    ['a tenant that is none', { tenant: '' }, 'unscoped', 'scope-unresolved'],
  ])('with %s is parked, and its work not run', async (_, own, reason, name) => {
    const work = paying();
    const delivered = { ...message(), ...own } as ConsumedMessage;
    expect(await app.service.consume(delivered, work)).toEqual({ kind: 'park', reason, error: code(name) });
    expect(work.seen.runs).toBe(0);
  });

  it('without an id is never taken for another without one', async () => {
    const { key: _, ...delivered } = message();
    for (let delivery = 0; delivery < 2; delivery++) {
      expect(await app.service.consume(delivered, paying())).toMatchObject({ kind: 'park' });
    }
    expect(await witness.rows(`SELECT FROM idempotency_records WHERE key = 'undefined'`)).toEqual([]);
  });

  it('that was handled is acknowledged also where its value was not kept', async () => {
    const delivered = message();
    await app.service.consume(delivered, () => 'x'.repeat(2 << 20));
    const work = paying();
    expect(await app.service.consume(delivered, work)).toMatchObject({
      kind: 'acknowledge',
      outcome: { kind: 'replayed_without_value', error: code('response-unavailable') },
    });
    expect(work.seen.runs).toBe(0);
  });

  it('that returns what cannot be kept fails like any other', async () => {
    const delivered = message();
    const settlement = await app.service.consume(delivered, async ({ manager, key }) => {
      await pay(manager, key, 'undone');
      return () => 1;
    });
    expect(settlement).toMatchObject({ kind: 'retry', error: expect.any(TypeError) });
    expect(await witness.payments(delivered.key)).toEqual([]);
  });

  it('is waited for with patience, and acknowledged then', async () => {
    const delivered = message({ patience: '30s' });
    const [entered, go] = [gate(), gate()];
    const first = app.service.consume(delivered, async () => {
      entered.open();
      await go.passed;
      return 'first';
    });
    await entered.passed;
    const second = app.service.consume(delivered, paying());
    go.open();
    await first;
    expect(await second).toEqual({ kind: 'acknowledge', outcome: { kind: 'replayed', value: 'first' } });
  });

  it.each([
    ['an option that is none', { content: Buffer.from('a') }, /no option `content`/],
    ['a number of tries that is none', { maxTries: 0 }, /`maxTries` must be a whole number/],
    ['no endpoint', { endpoint: undefined }, /`endpoint` must be/],
    ['a signal', { signal: new AbortController().signal }, /no option `signal`/],
  ])('is not taken with %s', async (_, own, complaint) => {
    const delivered = { ...message(), ...own } as ConsumedMessage;
    await expect(app.service.consume(delivered, paying())).rejects.toThrow(complaint);
  });
});

describe('the retention of a message', () => {
  it("is seven days, whatever the module's retention is for requests", async () => {
    const [delivered, asked] = [message(), request()];
    await app.service.consume(delivered, paying());
    await app.service.run(asked, paying());
    expect((await recordOf(witness, delivered.key))!.retained_hours).toBe(7 * 24);
    expect((await recordOf(witness, asked.key))!.retained_hours).toBe(2);
  });

  it.each<[what: string, messages: MessageOptions, own: Partial<ConsumedMessage>, hours: number]>([
    ['what the module says for messages', { retention: '10d' }, {}, 240],
    ['the same in milliseconds', { retentionMs: 36e5 }, {}, 1],
    ['what the message says', { retention: '10d' }, { retention: '30d' }, 720],
  ])('is %s', async (_, messages, own, hours) => {
    const other = await startServiceApp({ url: database.url, logbook, idempotency: { retentionMs: 72e5, messages } });
    try {
      const delivered = message(own);
      await other.service.consume(delivered, paying());
      expect((await recordOf(witness, delivered.key))!.retained_hours).toBe(hours);
    } finally {
      await other.stop();
    }
  });

  it('begins again with each try, so that no failure is forgotten before its message is', async () => {
    const delivered = message();
    await app.service.consume(delivered, failing());
    await witness.rows(
      `UPDATE idempotency_records SET expires_at = expires_at - interval '6 days' WHERE key = $1`,
      delivered.key,
    );
    await app.service.consume(delivered, failing());
    const [row] = await witness.rows<{ days: number }>(
      'SELECT round(extract(epoch FROM expires_at - now()) / 86400)::integer AS days FROM idempotency_records WHERE key = $1',
      delivered.key,
    );
    expect(row).toEqual({ days: 7 });
    expect(await recordOf(witness, delivered.key)).toMatchObject({ attempts: 2 });
  });
});

describe('the tries of a message', () => {
  it('are counted until it is parked; brought back, it starts afresh', async () => {
    const delivered = message({ maxTries: 3 });
    const tries: unknown[] = [];
    const work = (operation: IdempotentOperation) => {
      tries.push(operation.attempts);
      return failing()(operation);
    };
    const kinds: string[] = [];
    for (let delivery = 1; delivery <= 4; delivery++) {
      const settlement = await app.service.consume(delivered, work);
      kinds.push(settlement.kind === 'park' ? settlement.reason : settlement.kind);
      expect(await recordOf(witness, delivered.key)).toEqual(
        delivery === 3
          ? undefined
          : expect.objectContaining({ state: 'in_progress', attempts: delivery % 3, is_live: null }),
      );
    }
    expect([kinds, tries]).toEqual([
      ['retry', 'retry', 'failed_too_often', 'retry'],
      [1, 2, 3, 1],
    ]);
    expect(await witness.payments(delivered.key)).toEqual([]);
  });

  it('are ten by default, and as many as the module says', async () => {
    const other = await startServiceApp({ url: database.url, logbook, idempotency: { messages: { maxTries: 1 } } });
    try {
      expect(await other.service.consume(message(), failing())).toMatchObject({ reason: 'failed_too_often' });
    } finally {
      await other.stop();
    }
    const delivered = message();
    const kinds: string[] = [];
    for (let delivery = 0; delivery < 10; delivery++) {
      kinds.push((await app.service.consume(delivered, failing())).kind);
    }
    expect(kinds).toEqual([...Array<string>(9).fill('retry'), 'park']);
  });

  it('do not grow by deliveries that find it in progress', async () => {
    const delivered = message({ maxTries: 2 });
    const [entered, go] = [gate(), gate()];
    const first = app.service.consume(delivered, async () => {
      entered.open();
      await go.passed;
      throw new Error('The work failed.');
    });
    await entered.passed;
    for (let duplicate = 0; duplicate < 5; duplicate++) {
      expect(await app.service.consume(delivered, paying())).toMatchObject({ kind: 'retry' });
    }
    go.open();
    expect(await first).toMatchObject({ kind: 'retry' });
    expect(await app.service.consume(delivered, paying())).toMatchObject({ outcome: { value: { attempts: 2 } } });
  });

  it('begin with a worker: one whose lease ran out is the first of them', async () => {
    const delivered = message({ maxTries: 1 });
    const [entered, go] = [gate(), gate()];
    const first = app.service.consume(delivered, async () => {
      entered.open();
      await go.passed;
    });
    await entered.passed;
    await pass(witness, delivered.key);
    const work = paying();
    expect(await app.service.consume(delivered, work)).toEqual({
      kind: 'park',
      reason: 'failed_too_often',
      error: code('work-broken'),
    });
    go.open();
    // It had not died, and is told that its operation was taken: nothing of it is committed.
    expect(await first).toMatchObject({ kind: 'retry' });
    expect(work.seen.runs).toBe(0);
  });

  it('of plain code are not counted', async () => {
    const asked = request();
    await app.service.run(asked, failing()).catch(() => undefined);
    expect(await recordOf(witness, asked.key)).toBeUndefined();
  });

  it("are not counted under `claim: 'transaction'`, which leaves nothing behind", async () => {
    const delivered = message({ claim: 'transaction', maxTries: 2 });
    for (let delivery = 0; delivery < 3; delivery++) {
      expect(await app.service.consume(delivered, failing())).toMatchObject({ kind: 'retry' });
    }
    expect(await recordOf(witness, delivered.key)).toBeUndefined();
    expect(await app.service.consume(delivered, paying())).toMatchObject({ outcome: { kind: 'executed' } });
    expect(await app.service.consume(delivered, paying())).toMatchObject({ outcome: { kind: 'replayed' } });
  });
});

describe('messages that are delivered together', () => {
  it('are settled each for itself, in their order: a duplicate among them finds the first one done', async () => {
    const [one, bad, last] = [message(), message(), message()];
    const { key: _, ...nameless } = message();
    const runs: string[] = [];
    const batch: ConsumedMessage[] = [one, bad, one, nameless, { ...one, payload: 'other' }, last];
    const settlements = await app.service.consumeAll(batch, async (delivered, { manager, key }) => {
      runs.push(key);
      await pay(manager, key, 'paid');
      if (delivered === bad) throw new Error('This one fails.');
      return batch.indexOf(delivered);
    });
    expect(settlements).toEqual([
      { kind: 'acknowledge', outcome: { kind: 'executed', value: 0 } },
      { kind: 'retry', afterMs: expect.any(Number), error: new Error('This one fails.') },
      { kind: 'acknowledge', outcome: { kind: 'replayed', value: 0 } },
      { kind: 'park', reason: 'unidentified', error: code('key-missing') },
      { kind: 'park', reason: 'mismatch', error: code('key-reused') },
      { kind: 'acknowledge', outcome: { kind: 'executed', value: 5 } },
    ]);
    expect(runs).toEqual([one.key, bad.key, last.key]);
    for (const { key } of [one, last]) expect(await witness.payments(key)).toEqual(['paid']);
    expect(await witness.payments(bad.key)).toEqual([]);
  });

  it('are none', async () => {
    expect(await app.service.consumeAll([], () => undefined)).toEqual([]);
  });
});

describe('`messages.onSettled`', () => {
  it('is told of every delivery, with the name of its consumer', async () => {
    told.length = 0;
    const delivered = message({ endpoint: 'ledger' });
    const { key: _, ...nameless } = message({ endpoint: 'mailer' });
    const settlements = [
      await app.service.consume(delivered, failing()),
      await app.service.consume(delivered, paying()),
      await app.service.consume(delivered, paying()),
      await app.service.consume(nameless, paying()),
    ];
    expect(told).toEqual([
      ['ledger', settlements[0]],
      ['ledger', settlements[1]],
      ['ledger', settlements[2]],
      ['mailer', settlements[3]],
    ]);
    expect(settlements.map(({ kind }) => kind)).toEqual(['retry', 'acknowledge', 'acknowledge', 'park']);
  });

  it.each<[how: string, fail: () => void]>([
    [
      'throws',
      () => {
        throw new Error('no counter: thrown');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no counter: rejected'))],
  ])('does no harm when it %s, and is reported', async (how, fail) => {
    onSettled = fail;
    const delivered = message();
    expect(await app.service.consume(delivered, paying())).toMatchObject({ kind: 'acknowledge' });
    await eventually(
      'it is reported',
      () => logbook.complaints(`no counter: ${how === 'throws' ? 'thrown' : 'rejected'}`).length > 0,
    );
    expect(await witness.payments(delivered.key)).toEqual(['paid']);
  });
});

describe('what an operator reads', () => {
  it('is of every failure of the work, and of every message that was parked', async () => {
    logbook.lines.length = 0;
    await app.service.consume(message({ endpoint: 'a failing consumer' }), failing(new Error('no funds')));
    await app.service.consume(message({ endpoint: 'a careless consumer' }), async ({ manager }) => {
      await manager.query('SELECT 1/0').catch(() => undefined);
    });
    await app.service.consume(message({ endpoint: 'a parking consumer', key: '' }), paying());
    expect(logbook.complaints('a failing consumer')).toEqual([expect.stringContaining('no funds')]);
    expect(logbook.complaints('a careless consumer')).toEqual([expect.stringContaining('swallowed')]);
    expect(logbook.complaints('a parking consumer')).toEqual([expect.stringContaining('parked (unidentified)')]);
  });

  it('is nothing where all goes its way', async () => {
    logbook.lines.length = 0;
    const delivered = message();
    await app.service.consume(delivered, paying());
    await app.service.consume(delivered, paying());
    expect(logbook.complaints()).toEqual([]);
  });
});
