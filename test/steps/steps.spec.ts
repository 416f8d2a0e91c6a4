import { randomUUID } from 'node:crypto';
import { ConflictException, NotFoundException } from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type StepCall, StepRefusedError } from 'nestjs-idempotency';

import { providerKey, uuidOf } from '../../libs/idempotency/src/core/provider-key.js';
import { eventually, gate } from '../module/gate.js';
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

const charging =
  (call: (given: StepCall) => Promise<string>, tries = 1): Play =>
  async (operation) => {
    const charge = await operation.step('charge', call, { tries });
    return operation.commit(async (manager) => {
      await pay(manager, operation.key, charge);
      return { charge };
    });
  };

const payments = () => stage.app.witness.payments(key);

describe('a step', () => {
  it('is called once, and its operation is replayed', async () => {
    const provider = new Callee('ch_1');
    const first = await stage.play(key, charging(provider.call));
    expect(first).toMatchObject({ status: 201, isReplay: false, body: { charge: 'ch_1' } });
    expect(await stage.play(key, charging(provider.call))).toEqual({ ...first, isReplay: true });
    expect(provider.calls).toHaveLength(1);
    expect(await payments()).toEqual(['ch_1']);
    expect(await stage.steps(key)).toEqual([]);
  });

  it('is on record, and can be found by others, before it is called', async () => {
    let row: unknown;
    let record: unknown;
    await stage.play(
      key,
      charging(async ({ providerKey }) => {
        [row] = await stage.steps(key);
        record = await stage.record(key);
        return providerKey;
      }),
    );
    const [paid] = await payments();
    expect(row).toEqual({ name: 'charge', provider_key: paid, tries: 1, result: null });
    expect(record).toEqual({ state: 'in_progress', has_steps: true, is_live: true });
  });

  it('whose outcome is unknown is called again under the same key', async () => {
    const provider = new Callee(500, 'ch_1');
    expect(await stage.play(key, charging(provider.call))).toMatchObject({
      status: 409,
      body: { code: 'idempotency-outcome-unknown' },
    });
    expect(await stage.steps(key)).toMatchObject([{ name: 'charge', tries: 1, result: null }]);
    expect((await stage.play(key, charging(provider.call))).status).toBe(201);
    expect(provider.calls.map(({ tries }) => tries)).toEqual([1, 2]);
    expect(new Set(provider.calls.map(({ providerKey }) => providerKey)).size).toBe(1);
    expect(await payments()).toEqual(['ch_1']);
  });

  it('that was refused is recorded, and never called again', async () => {
    const provider = new Callee(402);
    const first = await stage.play(key, charging(provider.call));
    expect(first).toMatchObject({ status: 422, isReplay: false, body: { code: 'idempotency-step-refused' } });
    expect(await stage.play(key, charging(provider.call))).toEqual({ ...first, isReplay: true });
    expect(provider.calls).toHaveLength(1);
    expect(await payments()).toEqual([]);
  });

  it('that was refused after another has succeeded is no end of the operation: that is to be undone first', async () => {
    const [charge, shipment, refund] = [new Callee('ch_1'), new Callee(404), new Callee('re_1')];
    const careless: Play = async (operation) => {
      await operation.step('charge', charge.call);
      await operation.step('ship', shipment.call);
    };
    for (const _ of [1, 2]) {
      expect(await stage.play(key, careless)).toMatchObject({
        status: 500,
        isReplay: false,
        body: { code: 'idempotency-work-broken', detail: expect.stringContaining('Catch StepRefusedError') },
      });
      expect(await stage.steps(key)).toMatchObject([
        { name: 'charge', result: '[1,"succeeded","ch_1"]' },
        { name: 'ship', result: expect.any(String) },
      ]);
    }
    const careful: Play = async (operation) => {
      await operation.step('charge', charge.call);
      await operation.step('ship', shipment.call).catch(() => operation.step('refund', refund.call));
      throw new ConflictException('It cannot be shipped.');
    };
    expect(await stage.play(key, careful)).toMatchObject({ status: 409, body: { message: 'It cannot be shipped.' } });
    expect(await stage.play(key, careful)).toMatchObject({ status: 409, isReplay: true });
    expect([charge, shipment, refund].map(({ calls }) => calls.length)).toEqual([1, 1, 1]);
    expect(await stage.steps(key)).toEqual([]);
  });

  it('that was refused is no end either while another is under way, which succeeds', async () => {
    const [refused, answered] = [gate(), gate()];
    const beside: Play = (operation) =>
      Promise.all([
        operation.step('charge', () => answered.passed.then(() => 'ch_1')),
        operation.step('ship', new Callee(404).call).finally(() => refused.open()),
      ]);
    const answer = stage.play(key, beside);
    await refused.passed;
    answered.open();
    expect(await answer).toMatchObject({ status: 500, body: { code: 'idempotency-work-broken' } });
    expect(await stage.steps(key)).toMatchObject([
      { name: 'charge', result: '[1,"succeeded","ch_1"]' },
      { name: 'ship' },
    ]);
  });

  it('that was refused is refused on every attempt in the same way, where its handler did not end with that', async () => {
    const provider = new Callee(402);
    const caught: StepRefusedError[] = [];
    const failing: Play = async (operation) => {
      await operation.step('charge', provider.call).catch((error: StepRefusedError) => caught.push(error));
      throw new Error('The rest failed.');
    };
    for (const _ of [1, 2]) expect((await stage.play(key, failing)).status).toBe(500);
    expect(provider.calls).toHaveLength(1);
    const refused = { step: 'charge', message: 'The provider answered 402.', details: undefined };
    expect(caught).toMatchObject([refused, refused]);
    for (const error of caught) expect(error).toBeInstanceOf(StepRefusedError);
  });

  it('that had no effect leaves nothing behind, and is called again', async () => {
    const provider = new Callee(429, 'ch_1');
    expect((await stage.play(key, charging(provider.call))).status).toBe(500);
    expect(await stage.steps(key)).toEqual([]);
    expect((await stage.play(key, charging(provider.call))).status).toBe(201);
    expect(provider.calls.map(({ tries }) => tries)).toEqual([1, 1]);
  });

  it('that had no effect is no end of the operation, whatever its error is answered with', async () => {
    const provider = new Callee('ch_1');
    const gone = new NotFoundException();
    const unready: Play = (operation) =>
      operation.step('charge', () => Promise.reject(gone), { failure: () => 'no_effect' });
    for (const _ of [1, 2]) expect(await stage.play(key, unready)).toMatchObject({ status: 404, isReplay: false });
    expect((await stage.play(key, charging(provider.call))).status).toBe(201);
    expect(await payments()).toEqual(['ch_1']);
    // Whoever answers so himself has decided.
    key = randomUUID();
    const deciding: Play = (operation) => unready(operation).catch(() => Promise.reject(new NotFoundException()));
    expect(await stage.play(key, deciding)).toMatchObject({ status: 404, isReplay: false });
    expect(await stage.play(key, deciding)).toMatchObject({ status: 404, isReplay: true });
  });

  it('whose result is known is not called again when what follows it failed', async () => {
    const provider = new Callee('ch_1');
    const failing: Play = async (operation) => {
      await operation.step('charge', provider.call);
      throw new Error('The rest failed.');
    };
    expect((await stage.play(key, failing)).status).toBe(500);
    expect(await stage.steps(key)).toMatchObject([{ name: 'charge', tries: 1, result: '[1,"succeeded","ch_1"]' }]);
    expect((await stage.play(key, charging(provider.call))).status).toBe(201);
    expect(provider.calls).toHaveLength(1);
    expect(await payments()).toEqual(['ch_1']);
  });

  it('that may have happened is not told as an end by a handler that swallows it', async () => {
    const provider = new Callee(500);
    const swallowing: Play = async (operation) => {
      await operation.step('charge', provider.call).catch(() => undefined);
      return operation.commit(async (manager) => {
        await pay(manager, operation.key, 'without a charge');
        return {};
      });
    };
    expect(await stage.play(key, swallowing)).toMatchObject({
      status: 409,
      body: { code: 'idempotency-outcome-unknown' },
    });
    expect(await stage.steps(key)).toHaveLength(1);
    expect(await payments()).toEqual([]);
  });

  it('is tried as often as it asks for in one attempt, and is told how often over all of them', async () => {
    const provider = new Callee(500, 503, 500, 502, 'ch_1');
    expect((await stage.play(key, charging(provider.call, 3))).status).toBe(409);
    expect((await stage.play(key, charging(provider.call, 3))).status).toBe(201);
    expect(provider.calls.map(({ tries }) => tries)).toEqual([1, 2, 3, 4, 5]);
  });

  it('runs beside others of other names, each called once', async () => {
    const [one, other] = [new Callee('a_1'), new Callee('b_1')];
    const both = gate();
    const meeting = (callee: Callee) => async (call: StepCall) => {
      const result = await callee.call(call);
      if (one.calls.length + other.calls.length === 2) both.open();
      await both.passed;
      return result;
    };
    const parallel: Play = async (operation) => {
      const results = await Promise.all([operation.step('one', meeting(one)), operation.step('other', meeting(other))]);
      return operation.commit(async (manager) => {
        for (const result of results) await pay(manager, operation.key, result);
        return { results };
      });
    };
    expect(await stage.play(key, parallel)).toMatchObject({ status: 201, body: { results: ['a_1', 'b_1'] } });
    expect(one.calls[0]!.providerKey).not.toBe(other.calls[0]!.providerKey);
    expect(await payments()).toEqual(['a_1', 'b_1']);
    await eventually('the pool is at rest', () => stage.app.isPoolAtRest());
  });
});

describe('the key of a step', () => {
  it('follows from its operation, its payload and its name, and is a UUID as well', async () => {
    const provider = new Callee('ch_1');
    await stage.play(key, charging(provider.call));
    const [row] = await stage.app.witness.rows<{ fingerprint: Buffer }>(
      'SELECT fingerprint FROM idempotency_records WHERE key = $1',
      key,
    );
    const operation = { tenant: '', endpoint: 'plays', key };
    const expected = providerKey('the secret of the tests', operation, row!.fingerprint, 'charge');
    expect(provider.calls[0]).toMatchObject({ providerKey: expected, providerUuid: uuidOf(expected) });
  });

  it('stays what it was when the secret has changed since', async () => {
    const provider = new Callee(500, 'ch_1');
    await stage.play(key, charging(provider.call));
    const other = await Stage.open({ url: stage.url, idempotency: { providerKeySecret: 'quite another secret' } });
    try {
      expect((await other.play(key, charging(provider.call))).status).toBe(201);
    } finally {
      await other.close();
    }
    expect(new Set(provider.calls.map(({ providerKey }) => providerKey)).size).toBe(1);
  });
});

describe('the result of a step', () => {
  class Receipt {
    constructor(
      readonly id: string,
      readonly paidAt: Date,
      readonly cents: bigint,
    ) {}
    get isPaid(): boolean {
      return true;
    }
  }

  it('is the same plain data on the first attempt as on every later one', async () => {
    const receipt = new Receipt('r_1', new Date(1_764_374_400_000), 12345678901234567890n);
    const given: unknown[] = [];
    let calls = 0;
    const taking =
      (isLast: boolean): Play =>
      async (operation) => {
        given.push(await operation.step('charge', () => Promise.resolve(++calls && receipt)));
        if (!isLast) throw new Error('The rest failed.');
        return {};
      };
    await stage.play(key, taking(false));
    expect((await stage.play(key, taking(true))).status).toBe(201);
    const plain = { id: 'r_1', paidAt: new Date(1_764_374_400_000), cents: 12345678901234567890n };
    expect(given).toStrictEqual([plain, plain]);
    expect(calls).toBe(1);
  });

  it('that cannot be kept is not told as done: the operation is held, and the call is not forgotten', async () => {
    const swallowing: Play = async (operation) => {
      await operation.step('charge', () => Promise.resolve({ refund: () => undefined })).catch(() => undefined);
      return operation.commit(async (manager) => {
        await pay(manager, operation.key, 'without a charge');
        return {};
      });
    };
    expect(await stage.play(key, swallowing)).toMatchObject({
      status: 409,
      body: { code: 'idempotency-outcome-unknown' },
    });
    expect(await stage.steps(key)).toMatchObject([{ name: 'charge', tries: 1, result: null }]);
    expect(await payments()).toEqual([]);
    const provider = new Callee('ch_1');
    expect((await stage.play(key, charging(provider.call))).status).toBe(201);
    expect(provider.calls).toMatchObject([{ tries: 2 }]);
  });

  it('keeps a refusal also where what the provider said cannot be kept', async () => {
    const refused = Object.assign(new Error('declined'), { status: 402, details: { retry: () => undefined } });
    const answer = await stage.play(key, (operation) => operation.step('charge', () => Promise.reject(refused)));
    expect(answer).toMatchObject({ status: 422, body: { code: 'idempotency-step-refused' } });
    expect(await stage.record(key)).toMatchObject({ state: 'completed' });
  });

  it('in a version that is not known is neither guessed at nor forgotten', async () => {
    const provider = new Callee('ch_1');
    const failing: Play = async (operation) => {
      await operation.step('charge', provider.call);
      throw new Error('The rest failed.');
    };
    await stage.play(key, failing);
    const text = '[2,"succeeded","ch_1"]';
    await stage.app.witness.rows('UPDATE idempotency_steps SET result = $2 WHERE key = $1', key, text);
    const swallowing: Play = async (operation) => {
      await operation.step('charge', provider.call).catch(() => undefined);
      return {};
    };
    expect(await stage.play(key, charging(provider.call))).toMatchObject({ status: 500 });
    expect(await stage.play(key, swallowing)).toMatchObject({ body: { code: 'idempotency-outcome-unknown' } });
    expect(await stage.steps(key)).toMatchObject([{ result: text }]);
    expect(provider.calls).toHaveLength(1);
  });
});

describe('the signal of a call', () => {
  it('is aborted when its time is over, and what comes later is thrown away', async () => {
    const late = gate();
    let signal: AbortSignal | undefined;
    const slow: Play = (operation) =>
      operation.step(
        'charge',
        async (call) => {
          ({ signal } = call);
          await late.passed;
          return 'ch_late';
        },
        { deadlineMs: 20 },
      );
    expect(await stage.play(key, slow)).toMatchObject({ status: 409, body: { code: 'idempotency-outcome-unknown' } });
    expect(signal!.reason).toMatchObject({ name: 'DeadlineError' });
    late.open();
    const provider = new Callee('ch_1');
    expect(await stage.play(key, charging(provider.call))).toMatchObject({ status: 201, body: { charge: 'ch_1' } });
  });

  it('is aborted when the claim was taken over, and the attempt goes no further', async () => {
    const hasty = await Stage.open({ url: stage.url, idempotency: { leaseMs: 300 } });
    try {
      const [entered, never] = [gate(), gate()];
      const calls: StepCall[] = [];
      const waiting: Play = (operation) =>
        operation.step(
          'charge',
          async (call) => {
            calls.push(call);
            entered.open();
            await never.passed;
          },
          { tries: 5 },
        );
      const first = hasty.play(key, waiting);
      await entered.passed;
      await stage.app.witness.rows('UPDATE idempotency_records SET token = gen_random_uuid() WHERE key = $1', key);
      await eventually('the signal is aborted', () => calls[0]!.signal.aborted);
      expect(await first).toMatchObject({ status: 409, body: { code: 'idempotency-request-in-progress' } });
      expect(calls).toHaveLength(1);
      expect(await stage.steps(key)).toMatchObject([{ tries: 1, result: null }]);
    } finally {
      await hasty.close();
    }
  });
});
