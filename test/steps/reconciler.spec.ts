import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type IdempotentOperation } from 'nestjs-idempotency';

import { eventually, gate } from '../module/gate.js';
import { Logbook } from '../module/listening.js';
import { Witness } from '../module/witness.js';
import { pay } from '../module/work-app.js';
import { Callee, type Play, type Reconciling, Stage } from './plays.js';

jest.setTimeout(60_000);

const logbook = new Logbook();
let stage: Stage;
let key: string;

beforeAll(async () => {
  stage = await Stage.open({ logbook });
});

afterAll(() => stage?.close());

beforeEach(() => {
  key = randomUUID();
});

const charge = async (operation: IdempotentOperation, { call }: Callee): Promise<{ charge: string }> => {
  const charge = await operation.step('charge', call);
  return operation.commit(async (manager) => {
    await pay(manager, operation.key, charge);
    return { charge };
  });
};
const charging =
  (provider: Callee): Play =>
  (operation) =>
    charge(operation, provider);
const finishing =
  (provider: Callee): Reconciling =>
  async (operation) => ({
    status: 201,
    body: await charge(operation, provider),
    location: `/charges/${operation.key}`,
  });

const payments = () => stage.app.witness.payments(key);

/** An operation whose client gave up when nobody knew what had come of its call. */
async function abandoned(of = key): Promise<void> {
  expect((await stage.play(of, charging(new Callee(500)))).status).toBe(409);
}

describe('the reconciler', () => {
  it('ends what nobody came back for, with the answer that its client is given later', async () => {
    await abandoned();
    const provider = new Callee('ch_1');
    stage.reconcileBy(key, finishing(provider));
    expect(await stage.operations.reconcile()).toBe(1);
    expect(provider.calls).toMatchObject([{ tries: 2 }]);
    expect(await payments()).toEqual(['ch_1']);
    expect(await stage.steps(key)).toEqual([]);
    const answer = await stage.app.post('/plays', { key });
    expect([answer.status, answer.body]).toEqual([201, '{"charge":"ch_1"}']);
    expect(answer.headers.get('Idempotent-Replayed')).toBe('true');
    expect(answer.headers.get('Location')).toBe(`/charges/${key}`);
    expect(answer.headers.get('Content-Type')).toBe('application/json; charset=utf-8');
    expect(await stage.operations.reconcile()).toBe(0);
  });

  it('records that the provider refused, and the client is told so', async () => {
    await abandoned();
    stage.reconcileBy(key, finishing(new Callee(402)));
    expect(await stage.operations.reconcile()).toBe(1);
    expect(await stage.play(key, charging(new Callee('never')))).toMatchObject({
      status: 422,
      isReplay: true,
      body: { code: 'idempotency-step-refused' },
    });
    expect(await payments()).toEqual([]);
  });

  it('does not record a refusal where something else has happened: that is to be undone first', async () => {
    await abandoned();
    stage.reconcileBy(key, async (operation) => {
      await operation.step('charge', new Callee('ch_1').call);
      await operation.step('ship', new Callee(404).call);
      return { status: 201 };
    });
    expect(await stage.operations.reconcile()).toBe(0);
    expect(await stage.record(key)).toMatchObject({ state: 'in_progress', has_steps: true });
    expect(await stage.steps(key)).toMatchObject([{ name: 'charge' }, { name: 'ship' }]);
    expect(logbook.complaints('The reconciler of plays failed')).not.toEqual([]);
    stage.reconcileBy(key, async (operation) => {
      const charge = await operation.step('charge', new Callee('never').call);
      await operation.step('ship', new Callee('never').call).catch(() => undefined);
      const refund = await operation.step('refund', new Callee('re_1').call);
      await operation.commit((manager) => pay(manager, operation.key, `${charge} ${refund}`));
      return { status: 409 };
    });
    expect(await stage.operations.reconcile()).toBe(1);
    expect(await payments()).toEqual(['ch_1 re_1']);
  });

  it('leaves an operation as it is where its method says so', async () => {
    await abandoned();
    const before = await stage.steps(key);
    stage.reconcileBy(key, () => Promise.resolve(null));
    expect(await stage.operations.reconcile()).toBe(0);
    expect(await stage.steps(key)).toEqual(before);
    expect(await stage.record(key)).toEqual({ state: 'in_progress', has_steps: true, is_live: null });
    stage.reconcileBy(key, finishing(new Callee('ch_1')));
    expect(await stage.operations.reconcile()).toBe(1);
  });

  it('leaves it too where nobody knows still, whatever its method makes of that', async () => {
    await abandoned();
    stage.reconcileBy(key, async (operation) => {
      await operation.step('charge', new Callee(503).call).catch(() => undefined);
      await operation.commit((manager) => pay(manager, operation.key, 'without a charge'));
      return { status: 201 };
    });
    expect(await stage.operations.reconcile()).toBe(0);
    expect(await payments()).toEqual([]);
    expect(await stage.steps(key)).toMatchObject([{ tries: 2, result: null }]);
    stage.reconcileBy(key, finishing(new Callee('ch_1')));
    expect(await stage.operations.reconcile()).toBe(1);
  });

  it('does not end an operation whose call its method does not ask after, and reports it', async () => {
    await abandoned();
    stage.reconcileBy(key, () => Promise.resolve({ status: 201 }));
    expect(await stage.operations.reconcile()).toBe(0);
    expect(await stage.steps(key)).toMatchObject([{ tries: 1, result: null }]);
    const complaints = logbook.complaints('An operation of plays could not be reconciled');
    expect(complaints.join()).toContain('the step charge was begun by an earlier attempt');
    stage.reconcileBy(key, finishing(new Callee('ch_1')));
    expect(await stage.operations.reconcile()).toBe(1);
  });

  it('comes to all that wait, however many before them cannot be ended', async () => {
    const stuck = Array.from({ length: 45 }, () => randomUUID());
    for (const one of stuck) {
      await abandoned(one);
      stage.reconcileBy(one, () => Promise.reject(new Error('It cannot be found out.')));
    }
    await abandoned();
    stage.reconcileBy(key, finishing(new Callee('ch_1')));
    expect(await stage.operations.reconcile()).toBe(1);
    expect(await payments()).toEqual(['ch_1']);
    for (const one of stuck) stage.reconcileBy(one, finishing(new Callee(`ch_${one}`)));
    expect(await stage.operations.reconcile()).toBe(stuck.length);
  });

  it('goes on without a method that takes too long, and reports it', async () => {
    const hasty = await Stage.open({ url: stage.url, logbook, idempotency: { renewForMs: 300 } });
    const [blocker, end] = [await Witness.of(stage.url), gate()];
    const keys = [randomUUID(), randomUUID()] as const;
    const begun = new Set<string>();
    const endless: Reconciling[] = [
      async () => {
        await end.passed;
        return { status: 201 };
      },
      (operation) =>
        operation.commit(async (manager) => {
          await manager.query('SELECT pg_advisory_xact_lock(1)');
          await pay(manager, operation.key, 'too late');
          return { status: 201 };
        }),
    ];
    try {
      await blocker.rows('SELECT pg_advisory_lock(1)');
      for (const [at, one] of keys.entries()) {
        await abandoned(one);
        stage.reconcileBy(one, (operation) => {
          begun.add(one);
          return endless[at]!(operation);
        });
      }
      expect(await hasty.operations.reconcile()).toBe(0);
      expect(begun).toEqual(new Set(keys));
      expect(logbook.complaints('plays could not be reconciled').join()).toContain('It took longer than 300 ms');
    } finally {
      end.open();
      await blocker.close();
      await hasty.close();
    }
    for (const one of keys) {
      expect(await stage.record(one)).toEqual({ state: 'in_progress', has_steps: true, is_live: null });
      expect(await stage.app.witness.payments(one)).toEqual([]);
      stage.reconcileBy(one, finishing(new Callee(`ch_${one}`)));
    }
    expect(await stage.operations.reconcile()).toBe(keys.length);
  });

  it('does not take up what somebody is at work on, nor what was asked for a moment ago', async () => {
    const patient = await Stage.open({ url: stage.url, idempotency: { reconcileAfterMs: 60_000 } });
    try {
      await abandoned();
      const provider = new Callee('ch_1');
      stage.reconcileBy(key, finishing(provider));
      expect(await patient.operations.reconcile()).toBe(0);

      const [entered, go] = [gate(), gate()];
      const working = stage.play(key, (operation) =>
        operation.step('charge', async () => {
          entered.open();
          await go.passed;
          throw new Error('cut');
        }),
      );
      await entered.passed;
      expect(await stage.operations.reconcile()).toBe(0);
      go.open();
      expect((await working).status).toBe(409);

      expect(await patient.operations.reconcile()).toBe(0);
      await stage.pass(key);
      expect(await patient.operations.reconcile()).toBe(1);
      expect(provider.calls).toHaveLength(1);
    } finally {
      await patient.close();
    }
  });

  it('ends each operation once where several processes run it at the same time', async () => {
    const other = await Stage.open({ url: stage.url });
    try {
      const keys = Array.from({ length: 20 }, () => randomUUID());
      const providers = keys.map(() => new Callee('ch_1'));
      for (const [at, one] of keys.entries()) {
        await abandoned(one);
        stage.reconcileBy(one, finishing(providers[at]!));
      }
      const settled = await Promise.all([stage.operations.reconcile(), other.operations.reconcile()]);
      expect(settled[0] + settled[1]).toBe(keys.length);
      for (const [at, one] of keys.entries()) {
        expect(providers[at]!.calls).toHaveLength(1);
        expect(await stage.app.witness.payments(one)).toEqual(['ch_1']);
      }
    } finally {
      await other.close();
    }
  });

  it('begins nothing more once the application shuts down, and is not cut off in what it has begun', async () => {
    const closing = await Stage.open({ url: stage.url });
    const [entered, go] = [gate(), gate()];
    const keys = [randomUUID(), randomUUID()] as const;
    let begun = 0;
    for (const one of keys) {
      await abandoned(one);
      stage.reconcileBy(one, async (operation) => {
        begun++;
        entered.open();
        await go.passed;
        return finishing(new Callee('ch_1'))(operation);
      });
    }
    const reconciled = closing.operations.reconcile();
    await entered.passed;
    const closed = closing.close();
    const isRefusing = () =>
      closing.play(randomUUID(), charging(new Callee('never'))).then(({ status }) => status === 503);
    await eventually('it takes no new work', isRefusing);
    go.open();
    expect(await reconciled).toBe(1);
    await closed;
    expect(begun).toBe(1);
    const paid = await Promise.all(keys.map((one) => stage.app.witness.payments(one)));
    expect(paid.flat()).toEqual(['ch_1']);
    expect(await stage.operations.reconcile()).toBe(1);
  });
});
