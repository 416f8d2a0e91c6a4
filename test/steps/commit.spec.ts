import { randomUUID } from 'node:crypto';
import { UnauthorizedException } from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type IdempotentOperation } from 'nestjs-idempotency';

import { gate } from '../module/gate.js';
import { pay } from '../module/work-app.js';
import { Callee, type Play, Stage } from './plays.js';

jest.setTimeout(30_000);

let stage: Stage;
let key: string;

beforeAll(async () => {
  stage = await Stage.open({ idempotency: { conflictRetries: 2 } });
});

afterAll(() => stage?.close());

beforeEach(() => {
  key = randomUUID();
});

const payments = () => stage.app.witness.payments(key);

describe('a commit that deadlocks', () => {
  const RAISE = (state: string) => `DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '${state}'; END $$`;

  it('is run again, and no call is made again', async () => {
    const run = randomUUID();
    await stage.app.witness.rows(`INSERT INTO payments (run, label) VALUES ($1, 'a'), ($1, 'b')`, run);
    const provider = new Callee('ch_1');
    const [mine, theirs] = [gate(), gate()];
    let tries = 0;
    const add = (label: string) =>
      `UPDATE payments SET amount = amount + 1 WHERE run = '${run}' AND label = '${label}'`;
    /** One takes a first, the other b; each then wants what the other has, the first time. */
    const crossing =
      (first: string, second: string, have: () => void, other: Promise<void>, label: string): Play =>
      async (operation) => {
        const charge = await operation.step('charge', provider.call);
        return operation.commit(async (manager) => {
          tries++;
          await manager.query(add(first));
          have();
          await other;
          await manager.query(add(second));
          await pay(manager, operation.key, `${label} ${charge}`);
          return { label };
        });
      };
    const keys = [randomUUID(), randomUUID()] as const;
    const answers = await Promise.all([
      stage.play(keys[0], crossing('a', 'b', mine.open, theirs.passed, 'one')),
      stage.play(keys[1], crossing('b', 'a', theirs.open, mine.passed, 'two')),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(tries).toBe(3);
    expect(provider.calls).toHaveLength(2);
    expect(await stage.app.witness.payments(keys[0])).toEqual(['one ch_1']);
    expect(await stage.app.witness.payments(keys[1])).toEqual(['two ch_1']);
    expect(await stage.app.witness.rows('SELECT amount FROM payments WHERE run = $1', run)).toEqual([
      { amount: 3 },
      { amount: 3 },
    ]);
  });

  it('as often as it is run is answered 503, and its retry makes no call', async () => {
    const provider = new Callee('ch_1');
    let tries = 0;
    const giving =
      (isGivingWay: boolean): Play =>
      async (operation) => {
        const charge = await operation.step('charge', provider.call);
        return operation.commit(async (manager) => {
          tries++;
          await pay(manager, operation.key, charge);
          if (isGivingWay) await manager.query(RAISE('40001'));
          return {};
        });
      };
    expect(await stage.play(key, giving(true))).toMatchObject({
      status: 503,
      retryAfter: '1',
      body: { code: 'idempotency-work-conflict' },
    });
    expect(tries).toBe(3);
    expect(await payments()).toEqual([]);
    expect((await stage.play(key, giving(false))).status).toBe(201);
    expect(provider.calls).toHaveLength(1);
    expect(await payments()).toEqual(['ch_1']);
  });

  it('or fails in another way is not run again', async () => {
    let tries = 0;
    const failing: Play = (operation) =>
      operation.commit(async (manager) => {
        tries++;
        await manager.query(RAISE('23514'));
      });
    expect((await stage.play(key, failing)).status).toBe(500);
    expect(tries).toBe(1);
  });
});

describe('a callback after the commit', () => {
  /** Registers from everywhere, and notes who was called. */
  const noting =
    (calls: string[], end: (operation: IdempotentOperation) => Promise<unknown>): Play =>
    async (operation) => {
      operation.afterCommit(() => calls.push('before the step'));
      await operation.step('charge', () => Promise.resolve('ch_1'));
      operation.afterCommit(() => calls.push('after the step'));
      const result = await operation.commit(async (manager) => {
        operation.afterCommit(() => calls.push('inside'));
        await pay(manager, operation.key, 'paid');
        return end(operation);
      });
      operation.afterCommit(() => calls.push('after'));
      return result;
    };
  const ALL = ['before the step', 'after the step', 'inside', 'after'];

  it('is called once, wherever it was registered', async () => {
    const calls: string[] = [];
    expect(
      (
        await stage.play(
          key,
          noting(calls, () => Promise.resolve({})),
        )
      ).status,
    ).toBe(201);
    expect(
      (
        await stage.play(
          key,
          noting(calls, () => Promise.resolve({})),
        )
      ).isReplay,
    ).toBe(true);
    expect(calls.sort()).toEqual(ALL.sort());
  });

  it('is called when everybody can see what was committed', async () => {
    let seen: Promise<unknown> | undefined;
    const looking: Play = (operation) => {
      operation.afterCommit(() => (seen = payments()));
      return operation.commit((manager) => pay(manager, operation.key, 'paid'));
    };
    expect((await stage.play(key, looking)).status).toBe(201);
    expect(await seen).toEqual(['paid']);
  });

  it('is called once where the commit had to be run again', async () => {
    const calls: string[] = [];
    let tries = 0;
    const conflict = () => Object.assign(new Error('conflict'), { code: '40001', severity: 'ERROR' });
    const giving = noting(calls, () => (++tries < 3 ? Promise.reject(conflict()) : Promise.resolve({})));
    expect((await stage.play(key, giving)).status).toBe(201);
    expect(tries).toBe(3);
    expect(calls.sort()).toEqual(ALL.sort());
  });

  it('is not called where nothing was committed, nor for an attempt before', async () => {
    const calls: string[] = [];
    const failing = noting(calls, () => Promise.reject(new Error('The rest failed.')));
    expect((await stage.play(key, failing)).status).toBe(500);
    const refusing = noting(calls, () => Promise.reject(new UnauthorizedException()));
    expect((await stage.play(key, refusing)).status).toBe(401);
    expect(calls).toEqual([]);
    expect(
      (
        await stage.play(
          key,
          noting(calls, () => Promise.resolve({})),
        )
      ).status,
    ).toBe(201);
    expect(calls.sort()).toEqual(ALL.sort());
  });

  it('is not called where the outcome of a call is unknown', async () => {
    const calls: string[] = [];
    const play: Play = async (operation) => {
      await operation.step('notify', () => Promise.reject(new Error('cut'))).catch(() => undefined);
      return noting(calls, () => Promise.resolve({}))(operation);
    };
    expect(await stage.play(key, play)).toMatchObject({ status: 409 });
    expect(calls).toEqual([]);
    expect(await payments()).toEqual([]);
  });
});
