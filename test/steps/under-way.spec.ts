import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type IdempotentOperation, type StepCall, type StepOptions } from 'nestjs-idempotency';

import { eventually, gate } from '../module/gate.js';
import { pay } from '../module/work-app.js';
import { Failed, type Play, Stage } from './plays.js';

jest.setTimeout(30_000);

let stage: Stage;
let key: string;
let carrier: Carrier;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage?.close());

beforeEach(() => {
  key = randomUUID();
  carrier = new Carrier();
});

/** Keeps no keys, can be asked, and goes on with what it was sent, whatever becomes of the connection. */
class Carrier {
  sent = 0;
  asked = 0;
  private readonly shipped: string[] = [];
  private readonly slow = gate();

  /** All that was sent so far is there from now on. */
  ship(): void {
    for (let at = this.shipped.length; at < this.sent; at++) this.shipped.push(`sh_${at + 1}`);
    this.slow.open();
  }

  readonly send = async (): Promise<string> => {
    const id = `sh_${++this.sent}`;
    await this.slow.passed;
    return id;
  };

  /** The same, and somebody on the way says that it took too long. */
  readonly sendPastAGateway = (): Promise<string> => {
    void this.send();
    return Promise.reject(new Failed(504));
  };

  readonly find = (): Promise<string | undefined> => {
    this.asked++;
    return Promise.resolve(this.shipped[0]);
  };
}

const shipping =
  (call: (call: StepCall) => Promise<string>, options: StepOptions<string> = {}): Play =>
  async (operation) => {
    const shipment = await operation.step('ship', call, { whenUnknown: carrier.find, ...options });
    return book(operation, shipment);
  };

const book = (operation: IdempotentOperation, shipment: string): Promise<{ shipment: string }> =>
  operation.commit(async (manager) => {
    await pay(manager, operation.key, shipment);
    return { shipment };
  });

/** Nobody asks, and so nobody sends again, before the first call must be over. */
async function expectShippedOnce(): Promise<void> {
  expect(await stage.record(key)).toEqual({ state: 'in_progress', has_steps: true, is_live: true });
  expect(await stage.play(key, shipping(carrier.send))).toMatchObject({
    status: 409,
    body: { code: 'idempotency-request-in-progress' },
  });
  expect(await stage.operations.reconcile()).toBe(0);
  expect([carrier.sent, carrier.asked]).toEqual([1, 0]);
  carrier.ship();
  await stage.pass(key);
  expect(await stage.play(key, shipping(carrier.send))).toMatchObject({ status: 201, body: { shipment: 'sh_1' } });
  expect(carrier.sent).toBe(1);
  expect(await stage.app.witness.payments(key)).toEqual(['sh_1']);
}

describe('a call that may still be on its way', () => {
  it('is not asked about before its deadline, although its connection has ended', async () => {
    expect(await stage.play(key, shipping(carrier.sendPastAGateway))).toMatchObject({
      status: 409,
      body: { code: 'idempotency-outcome-unknown' },
    });
    await expectShippedOnce();
  });

  it('is not asked about before its deadline by the next try of the same attempt', async () => {
    const call = (given: StepCall): Promise<string> => {
      setTimeout(() => carrier.ship(), 100);
      return given.tries === 1 ? carrier.sendPastAGateway() : carrier.send();
    };
    const answer = await stage.play(key, shipping(call, { tries: 3, deadlineMs: 300 }));
    expect(answer).toMatchObject({ status: 201, body: { shipment: 'sh_1' } });
    expect(carrier.sent).toBe(1);
  });

  it('is not asked about before its deadline by a handler that tries the step again', async () => {
    const answer = await stage.play(key, async (operation) => {
      const step = (call: (call: StepCall) => Promise<string>): Promise<string> =>
        operation.step('ship', call, { deadlineMs: 300, whenUnknown: carrier.find });
      await step(carrier.sendPastAGateway).catch(() => setTimeout(() => carrier.ship(), 100));
      return book(operation, await step(carrier.send));
    });
    expect(answer).toMatchObject({ status: 201, body: { shipment: 'sh_1' } });
    expect(carrier.sent).toBe(1);
  });

  it.each<[string, (shipping: Promise<unknown>) => Promise<unknown>]>([
    [
      'another step has failed',
      (shipment) => Promise.all([shipment, sent().then(() => Promise.reject(new Failed(429)))]),
    ],
    [
      'its handler did not want to wait',
      (shipment) => Promise.race([shipment, sent().then(() => Promise.reject(new Error()))]),
    ],
    ['its handler did not wait', async () => { await sent(); throw new Error(); }], // prettier-ignore
  ])('is not asked about before its deadline where %s', async (_, wait) => {
    const answer = await stage.play(key, (operation) => {
      const shipment = operation.step('ship', carrier.send, { whenUnknown: carrier.find });
      shipment.catch(() => undefined);
      return wait(shipment);
    });
    expect(answer.status).toBe(500);
    await expectShippedOnce();
  });

  it('is not made while another attempt can come, where its handler failed while the provider was asked', async () => {
    await stage.play(
      key,
      shipping(() => Promise.reject(new Failed(500))),
    );
    await stage.pass(key);
    const [asking, answer] = [gate(), gate()];
    const find = async (): Promise<undefined> => {
      asking.open();
      await answer.passed;
    };
    const failed = await stage.play(key, async (operation) => {
      operation.step('ship', carrier.send, { whenUnknown: find }).catch(() => undefined);
      await asking.passed;
      throw new Error();
    });
    expect(failed.status).toBe(500);
    answer.open();
    await sent();
    await expectShippedOnce();
  });

  it.each<'repeat' | 'hold'>(['repeat', 'hold'])(
    'has its result kept where its handler failed meanwhile (%s)',
    async (whenUnknown) => {
      const failed = await stage.play(key, async (operation) => {
        operation.step('ship', carrier.send, { whenUnknown }).catch(() => undefined);
        await sent();
        throw new Error();
      });
      expect(failed.status).toBe(500);
      expect(await stage.play(key, shipping(carrier.send, { whenUnknown }))).toMatchObject({
        status: 409,
        body: { code: 'idempotency-request-in-progress' },
      });
      carrier.ship();
      await eventually('the result is kept', async () => (await stage.steps(key))[0]?.result);
      await stage.pass(key);
      expect(await stage.play(key, shipping(carrier.send, { whenUnknown }))).toMatchObject({ status: 201 });
      expect([carrier.sent, carrier.asked]).toEqual([1, 0]);
    },
  );

  it('is not asked about before its deadline where a reconciler did not wait for it', async () => {
    await stage.play(
      key,
      shipping(() => Promise.reject(new Failed(500))),
    );
    await stage.pass(key);
    stage.reconcileBy(key, async (operation) => {
      void operation.step('ship', carrier.send, { whenUnknown: carrier.find }).catch(() => undefined);
      await sent();
      return null;
    });
    expect(await stage.operations.reconcile()).toBe(0);
    carrier.asked = 0;
    await expectShippedOnce();
  });

  it('keeps its claim for as long as it may take, also where the lease is shorter and is renewed', async () => {
    const other = await Stage.open({ url: stage.url, idempotency: { leaseMs: 500 } });
    try {
      const ends = async () => {
        const sql = `SELECT xmin::text AS version, locked_until > now() + interval '10s' AS is_long FROM idempotency_records WHERE key = $1`;
        return (await stage.app.witness.rows<{ version: string; is_long: boolean }>(sql, key))[0]!;
      };
      const answer = await other.play(key, async (operation) => {
        const isLong = await operation.step('ship', async () => {
          const { version } = await ends();
          const renewed = await eventually('the lease is renewed', async () => {
            const now = await ends();
            return now.version === version ? null : now;
          });
          return renewed.is_long;
        });
        return { isLong };
      });
      expect(answer.body).toEqual({ isLong: true });
    } finally {
      await other.close();
    }
  });
});

const sent = () => eventually('the call is with the carrier', () => carrier.sent > 0);
