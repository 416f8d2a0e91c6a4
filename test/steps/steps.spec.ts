import { randomUUID } from 'node:crypto';

import { Controller, HttpCode, Post } from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type IdempotentOperation, Idempotent, Operation, type StepCall, type StepOptions } from 'nestjs-idempotency';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { prepareDatabase, startWorkApp, type WorkApp } from '../module/work-app.js';
import { pay } from '../module/work-app.js';

type Play = (operation: IdempotentOperation) => Promise<unknown>;

const plays = new Map<string, Play>();

@Controller()
class StepsController {
  @Post('steps')
  @HttpCode(201)
  @Idempotent({ transaction: 'manual' })
  run(@Operation() operation: IdempotentOperation): Promise<unknown> {
    return plays.get(operation.key)!(operation);
  }
}

let database: TestDatabase;
let app: WorkApp;
let key: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  app = await startWorkApp({
    url: database.url,
    idempotency: { providerKeySecret: 'a secret of sixteen' },
    module: { controllers: [StepsController] },
  });
});

afterAll(async () => {
  await app?.stop();
  await database?.drop();
});

beforeEach(() => {
  key = randomUUID();
});

const post = (play: Play) => {
  plays.set(key, play);
  return app.post('/steps', { key });
};

const steps = () => app.witness.rows('SELECT name, provider_key, tries, result FROM idempotency_steps WHERE key = $1', key);

class Failed extends Error {
  constructor(readonly status: number) {
    super(`The provider answered ${status}.`);
  }
}

/** A provider's side of one step: what it was called with, and what it answers next. */
function provider(...answers: (string | number)[]) {
  const calls: StepCall[] = [];
  const call = (given: StepCall): Promise<{ id: string }> => {
    calls.push(given);
    const answer = answers[Math.min(calls.length, answers.length) - 1]!;
    return typeof answer === 'number' ? Promise.reject(new Failed(answer)) : Promise.resolve({ id: answer });
  };
  return { calls, call };
}

const charging =
  (call: (given: StepCall) => Promise<{ id: string }>, options?: StepOptions<{ id: string }>): Play =>
  async (operation) => {
    const { id } = await operation.step('charge', call, options);
    return operation.commit(async (manager) => {
      await pay(manager, operation.key, id);
      return { id };
    });
  };

describe('a step', () => {
  it('is called once, and its operation is replayed', async () => {
    const { calls, call } = provider('ch_1');
    const first = await post(charging(call));
    expect([first.status, JSON.parse(first.body)]).toEqual([201, { id: 'ch_1' }]);
    const second = await post(charging(call));
    expect(second.headers.get('Idempotent-Replayed')).toBe('true');
    expect(second.body).toBe(first.body);
    expect(calls).toHaveLength(1);
    expect(await app.witness.payments(key)).toEqual(['ch_1']);
    expect(await steps()).toEqual([]);
  });

  it('whose outcome is unknown is called again under the same key', async () => {
    const { calls, call } = provider(500, 'ch_1');
    const first = await post(charging(call));
    expect([first.status, JSON.parse(first.body)]).toMatchObject([409, { code: 'idempotency-outcome-unknown' }]);
    expect(await steps()).toMatchObject([{ name: 'charge', tries: 1, result: null }]);
    const second = await post(charging(call));
    expect(second.status).toBe(201);
    expect(calls.map(({ tries }) => tries)).toEqual([1, 2]);
    expect(new Set(calls.map(({ providerKey }) => providerKey)).size).toBe(1);
    expect(await app.witness.payments(key)).toEqual(['ch_1']);
  });

  it('that was refused is recorded, and never called again', async () => {
    const { calls, call } = provider(402);
    for (const _ of [1, 2]) {
      const answer = await post(charging(call));
      expect([answer.status, JSON.parse(answer.body)]).toMatchObject([422, { code: 'idempotency-step-refused' }]);
    }
    expect(calls).toHaveLength(1);
    expect(await app.witness.payments(key)).toEqual([]);
  });

  it('whose result is known is not called again when what follows it failed', async () => {
    const { calls, call } = provider('ch_1');
    const failing: Play = async (operation) => {
      await operation.step('charge', call);
      throw new Error('The rest failed.');
    };
    expect((await post(failing)).status).toBe(500);
    expect(await steps()).toMatchObject([{ name: 'charge', tries: 1, result: expect.any(String) }]);
    expect((await post(charging(call))).status).toBe(201);
    expect(calls).toHaveLength(1);
    expect(await app.witness.payments(key)).toEqual(['ch_1']);
  });

  it('that may have happened is not told as an end by a handler that swallows it', async () => {
    const { call } = provider(500);
    const swallowing: Play = async (operation) => {
      await operation.step('charge', call).catch(() => undefined);
      return { id: 'none' };
    };
    const answer = await post(swallowing);
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([409, { code: 'idempotency-outcome-unknown' }]);
    expect(await steps()).toHaveLength(1);
  });
});
