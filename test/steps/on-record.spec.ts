import { randomUUID } from 'node:crypto';
import { ConflictException } from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { pay } from '../module/work-app.js';
import { Callee, type Play, Stage } from './plays.js';

jest.setTimeout(30_000);

let stage: Stage;
let key: string;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage?.close());

beforeEach(() => {
  key = randomUUID();
});

const payments = () => stage.app.witness.payments(key);

const charging =
  ({ call }: Callee, end: () => void = () => undefined): Play =>
  async (operation) => {
    const charge = await operation.step('charge', call);
    end();
    return operation.commit(async (manager) => {
      await pay(manager, operation.key, charge);
      return { charge };
    });
  };

const fail = (): never => {
  throw new Error('The rest failed.');
};

/** Moves the operation past its retention. */
const expire = () =>
  stage.app.witness.rows(`UPDATE idempotency_records SET expires_at = now() - interval '1 day' WHERE key = $1`, key);

describe('a call of an earlier attempt', () => {
  const skipping: [how: string, play: Play, status: number][] = [
    ['returns', () => Promise.resolve({ id: 'none' }), 500],
    [
      'commits',
      (operation) =>
        operation.commit(async (manager) => {
          await pay(manager, operation.key, 'without a charge');
          return {};
        }),
      500,
    ],
    ['refuses', () => Promise.reject(new ConflictException('The order is closed.')), 500],
    ['makes another', charging(new Callee('ch_2')), 500],
  ];

  it.each(skipping.map(([how, play]) => [how, play] as const))(
    'of which nobody knows is not forgotten by one that %s',
    async (how, play) => {
      const provider = new Callee(500);
      const first: Play = (operation) => operation.step('other', provider.call);
      expect((await stage.play(key, first)).status).toBe(409);
      const answer = await stage.play(key, play);
      expect(answer).toMatchObject({ status: 500, isReplay: false, body: { code: 'idempotency-work-broken' } });
      expect(await payments()).toEqual([]);
      expect(await stage.record(key)).toMatchObject({ state: 'in_progress', has_steps: true });
      expect((await stage.steps(key)).find(({ name }) => name === 'other')).toMatchObject({ result: null });
      expect(how === 'makes another' ? 2 : 1).toBe((await stage.steps(key)).length);
    },
  );

  it.each(skipping.map(([how, play]) => [how, play] as const))(
    'that has happened is not forgotten by one that %s',
    async (_, play) => {
      const provider = new Callee('done');
      const first: Play = async (operation) => {
        await operation.step('other', provider.call);
        fail();
      };
      expect((await stage.play(key, first)).status).toBe(500);
      const answer = await stage.play(key, play);
      expect(answer).toMatchObject({ status: 500, body: { code: 'idempotency-work-broken' } });
      expect(await payments()).toEqual([]);
      expect((await stage.steps(key)).find(({ name }) => name === 'other')).toMatchObject({
        result: '[1,"succeeded","done"]',
      });
      // Who takes it up can end it.
      const whole: Play = async (operation) => {
        await operation.step('other', provider.call);
        return charging(new Callee('ch_3'))(operation);
      };
      expect((await stage.play(key, whole)).status).toBe(201);
      expect(provider.calls).toHaveLength(1);
      expect(await stage.steps(key)).toEqual([]);
    },
  );
});

describe('an operation with calls on record', () => {
  it.each([
    ['of which nobody knows', new Callee(500, 'ch_1'), undefined, 409, 2],
    ['that have happened', new Callee('ch_1'), fail, 500, 1],
  ] as const)('%s is not forgotten after its retention', async (_, provider, end, status, calls) => {
    expect((await stage.play(key, charging(provider, end))).status).toBe(status);
    const [before] = await stage.steps(key);
    await expire();
    const other = await stage.play(key, charging(provider), { other: 'payload' });
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency-key-reused' } });
    expect(await stage.steps(key)).toEqual([before]);
    expect(await stage.play(key, charging(provider))).toMatchObject({ status: 201, body: { charge: 'ch_1' } });
    expect(provider.calls).toHaveLength(calls);
    expect(new Set(provider.calls.map(({ providerKey }) => providerKey)).size).toBe(1);
    expect(await payments()).toEqual(['ch_1']);
  });

  it('is forgotten when it has ended: its key can be used again after its retention, for calls of its own', async () => {
    const [first, second] = [new Callee('ch_1'), new Callee('ch_2')];
    expect((await stage.play(key, charging(first), { a: 1 })).status).toBe(201);
    await expire();
    expect(await stage.play(key, charging(second), { a: 2 })).toMatchObject({ status: 201, body: { charge: 'ch_2' } });
    expect(second.calls[0]!.providerKey).not.toBe(first.calls[0]!.providerKey);
    expect(second.calls[0]!.tries).toBe(1);
    expect(await payments()).toEqual(['ch_1', 'ch_2']);
  });
});

describe('a call that had no effect', () => {
  it('leaves an operation like any other: the sweeper may take it, and another may use its key in time', async () => {
    expect((await stage.play(key, charging(new Callee(429)))).status).toBe(500);
    expect(await stage.record(key)).toEqual({ state: 'in_progress', has_steps: false, is_live: null });
    await expire();
    const provider = new Callee('ch_1');
    expect((await stage.play(key, charging(provider), { other: 'payload' })).status).toBe(201);
    expect(provider.calls).toMatchObject([{ tries: 1 }]);
  });

  it('leaves the calls beside it on record', async () => {
    const provider = new Callee('ch_1');
    const play: Play = async (operation) => {
      await operation.step('charge', provider.call);
      await operation.step('receipt', new Callee(429).call);
    };
    expect((await stage.play(key, play)).status).toBe(500);
    expect(await stage.record(key)).toMatchObject({ has_steps: true });
    expect(await stage.steps(key)).toMatchObject([{ name: 'charge', result: expect.any(String) }]);
  });
});

describe('what was announced last', () => {
  it('says since when an operation waits', async () => {
    const intendedAt = () =>
      stage.app.witness.rows<{ is_old: boolean }>(
        `SELECT intended_at < now() - interval '1 minute' AS is_old FROM idempotency_steps WHERE key = $1`,
        key,
      );
    const provider = new Callee(500, 500, 'ch_1');
    await stage.play(key, charging(provider));
    await stage.pass(key);
    expect(await intendedAt()).toEqual([{ is_old: true }]);
    await stage.play(key, charging(provider));
    expect(await intendedAt()).toEqual([{ is_old: false }]);
    await stage.play(
      key,
      charging(provider, () => fail()),
    );
    await stage.pass(key);
    // Nothing is called any more once the result is known.
    await stage.play(
      key,
      charging(provider, () => fail()),
    );
    expect(await intendedAt()).toEqual([{ is_old: true }]);
  });
});
