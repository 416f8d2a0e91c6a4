import { randomUUID } from 'node:crypto';
import { Controller, Injectable, type ModuleMetadata, Post, Res } from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  IdempotencyContext,
  type IdempotencyModuleOptions,
  Idempotent,
  type IdempotentOperation,
  type IdempotentOptions,
  Operation,
  Reconciles,
} from 'nestjs-idempotency';

import { eventually, gate } from '../module/gate.js';
import { pay } from '../module/work-app.js';
import { Callee, type Play, type PlayAnswer, Stage } from './plays.js';

jest.setTimeout(30_000);

@Controller()
class AutomaticController {
  @Post('automatic-step')
  @Idempotent()
  step(@Operation() operation: IdempotentOperation): Promise<string> {
    return operation.step('charge', automatic.call);
  }

  @Post('automatic-commit')
  @Idempotent()
  commit(@Operation() operation: IdempotentOperation): Promise<unknown> {
    return operation.commit((manager) => pay(manager, operation.key, 'paid'));
  }

  @Post('without-a-key')
  @Idempotent({ required: false })
  withoutKey(@Operation() operation: IdempotentOperation): string {
    return operation.key;
  }
}

const automatic = new Callee('ch_1');
let stage: Stage;
let key: string;

beforeAll(async () => {
  stage = await Stage.open({ module: { controllers: [AutomaticController] } });
});

afterAll(() => stage?.close());

beforeEach(() => {
  key = randomUUID();
});

const payments = () => stage.app.witness.payments(key);
const atRest = () => eventually('the pool is at rest', () => stage.app.isPoolAtRest());

/** What was asked is refused with the remedy, and nothing of it was done. */
async function expectBroken(answer: PlayAnswer, remedy: string): Promise<void> {
  expect(answer).toMatchObject({ status: 500, body: { code: 'idempotency-work-broken' } });
  expect(answer.body['detail']).toContain(remedy);
  expect(await payments()).toEqual([]);
  await atRest();
}

describe('a step', () => {
  it('inside the commit is refused before it is called, and nothing is committed', async () => {
    const provider = new Callee('ch_1');
    const nested: Play = (operation) =>
      operation.commit(async (manager) => {
        await pay(manager, operation.key, 'before');
        return operation.step('charge', provider.call);
      });
    await expectBroken(await stage.play(key, nested), 'Make every step before it.');
    expect(provider.calls).toEqual([]);
    expect(await stage.steps(key)).toEqual([]);
  });

  it('after the commit is refused before it is called, and nothing is committed', async () => {
    const provider = new Callee('ch_1');
    const late: Play = async (operation) => {
      await operation.commit((manager) => pay(manager, operation.key, 'before'));
      return operation.step('charge', provider.call);
    };
    await expectBroken(await stage.play(key, late), 'Make every step before it.');
    expect(provider.calls).toEqual([]);
  });

  it('beside the commit is refused before it is called', async () => {
    const provider = new Callee('ch_1');
    const beside: Play = (operation) =>
      Promise.all([
        operation.commit((manager) => pay(manager, operation.key, 'paid')),
        operation.step('charge', provider.call),
      ]);
    await expectBroken(await stage.play(key, beside), 'Make every step before it.');
    expect(provider.calls).toEqual([]);
  });

  it('of the same name at the same time is refused, and called once', async () => {
    const [entered, answered] = [gate(), gate()];
    const first = (operation: IdempotentOperation) =>
      operation.step('charge', () => {
        entered.open();
        return answered.passed.then(() => 'ch_1');
      });
    const provider = new Callee('ch_2');
    const second = (operation: IdempotentOperation) =>
      entered.passed.then(() => operation.step('charge', provider.call));
    const twice: Play = (operation) => Promise.all([first(operation), second(operation)]);
    await expectBroken(await stage.play(key, twice), "The step 'charge' is under way already.");
    answered.open();
    await eventually('the call is over', async () => (await stage.steps(key))[0]?.result);
    expect(provider.calls).toEqual([]);
    await atRest();
  });

  it('of the same name once more is refused: it would not be called, and be given the first result', async () => {
    const provider = new Callee('ch_1', 'ch_2');
    const twice: Play = async (operation) => [
      await operation.step('charge', provider.call),
      await operation.step('charge', provider.call),
    ];
    await expectBroken(await stage.play(key, twice), "The step 'charge' was made already.");
    expect(provider.calls).toHaveLength(1);
    expect(await stage.steps(key)).toMatchObject([{ name: 'charge', result: expect.any(String) }]);
  });

  it('that is still under way when the handler returns keeps anything from being told as done', async () => {
    const [returned, entered, answered] = [gate(), gate(), gate()];
    const careless: Play = (operation) => {
      void operation.step('charge', () => {
        entered.open();
        return answered.passed.then(() => 'ch_1');
      });
      returned.open();
      return Promise.resolve({ paid: true });
    };
    const answer = stage.play(key, careless);
    await Promise.all([returned.passed, entered.passed]);
    answered.open();
    await expectBroken(await answer, 'The handler returned while a step was under way. Await it.');
    // The next attempt knows what came of it.
    const provider = new Callee('ch_2');
    const careful: Play = async (operation) => ({ charge: await operation.step('charge', provider.call) });
    expect(await stage.play(key, careful)).toMatchObject({ status: 201, body: { charge: 'ch_1' } });
    expect(provider.calls).toEqual([]);
  });

  it.each([
    ['a name', '', {}, 'A step needs a name.'],
    ['a name that can be kept', 'charge\0', {}, 'and no NUL among them'],
    ['a name of some length', 'x'.repeat(256), {}, 'at most 255 characters'],
    ['a whole number of tries', 'charge', { tries: 0.5 }, 'needs a whole number of tries'],
  ])('without %s is refused', async (_, name, options, remedy) => {
    const provider = new Callee('ch_1');
    await expectBroken(await stage.play(key, (operation) => operation.step(name, provider.call, options)), remedy);
    expect(provider.calls).toEqual([]);
  });

  it('in a handler whose transaction is open all the time is refused before it is called', async () => {
    const answer = await stage.app.post('/automatic-step', { key });
    expect([answer.status, answer.body]).toEqual([
      500,
      expect.stringContaining("@Idempotent({ transaction: 'manual' })"),
    ]);
    expect(automatic.calls).toEqual([]);
  });
});

describe('a commit', () => {
  const paying = (label: string) => (operation: IdempotentOperation) =>
    operation.commit((manager) => pay(manager, operation.key, label));

  it('beside a step is refused before it begins', async () => {
    const [entered, answered] = [gate(), gate()];
    const charge = (operation: IdempotentOperation) =>
      operation.step('charge', () => {
        entered.open();
        return answered.passed.then(() => 'ch_1');
      });
    const beside: Play = (operation) =>
      Promise.all([charge(operation), entered.passed.then(() => paying('paid')(operation))]);
    await expectBroken(await stage.play(key, beside), '`operation.commit()` was called while a step was under way.');
    answered.open();
    await eventually('the call is over', async () => (await stage.steps(key))[0]?.result);
    await atRest();
  });

  it('that is asked for twice is refused, and nothing is committed', async () => {
    const twice: Play = async (operation) => {
      await paying('one')(operation);
      await paying('two')(operation);
    };
    await expectBroken(await stage.play(key, twice), '`operation.commit()` was called twice.');
  });

  it('that is asked for twice at the same time is refused, and nothing is committed', async () => {
    const twice: Play = (operation) => Promise.all([paying('one')(operation), paying('two')(operation)]);
    await expectBroken(await stage.play(key, twice), '`operation.commit()` was called twice.');
  });

  it('that is still under way when the handler returns is undone', async () => {
    let committing: Promise<unknown> | undefined;
    const careless: Play = (operation) => {
      committing = paying('paid')(operation).catch(() => undefined);
      return Promise.resolve({ paid: true });
    };
    await expectBroken(await stage.play(key, careless), '`operation.commit()` was under way. Await it.');
    await committing;
    expect(await payments()).toEqual([]);
    expect((await stage.play(key, paying('paid'))).status).toBe(201);
  });

  it('may be asked for again after it has failed, and so may a step that makes up for it', async () => {
    const provider = new Callee('re_1');
    const compensating: Play = async (operation) => {
      const failed = operation.commit(async (manager) => {
        await pay(manager, operation.key, 'undone');
        throw new Error('It cannot be booked.');
      });
      await expect(failed).rejects.toThrow('It cannot be booked.');
      const refund = await operation.step('refund', provider.call);
      return operation.commit((manager) => pay(manager, operation.key, refund));
    };
    expect((await stage.play(key, compensating)).status).toBe(201);
    expect(await payments()).toEqual(['re_1']);
  });

  it('in a handler whose transaction is open all the time is refused', async () => {
    const answer = await stage.app.post('/automatic-commit', { key });
    expect([answer.status, answer.body]).toEqual([500, expect.stringContaining("this one's work is one already")]);
    expect(await payments()).toEqual([]);
  });

  it('is where a handler with steps writes: there is no manager before it, and none after it', async () => {
    const context = stage.app.app.get(IdempotencyContext);
    const early: Play = async (operation) => {
      await pay(context.manager, operation.key, 'early');
    };
    expect((await stage.play(key, early)).status).toBe(500);
    const late: Play = async (operation) => {
      const manager = await operation.commit((manager) => Promise.resolve(manager));
      await pay(manager, operation.key, 'late');
    };
    await expectBroken(await stage.play(key, late), 'after the work was over');
  });
});

describe('an operation', () => {
  it('is not there where a request has no key', async () => {
    expect((await stage.app.post('/without-a-key', { key })).status).toBe(201);
    expect((await stage.app.post('/without-a-key')).status).toBe(500);
  });
});

describe('an application does not start', () => {
  const MANUAL: IdempotentOptions = { endpoint: 'charges', transaction: 'manual' };

  async function refusal(idempotency: Partial<IdempotencyModuleOptions>, module: ModuleMetadata): Promise<string> {
    const start = Stage.open({ url: stage.url, idempotency, module });
    return start.then(
      async (started) => {
        await started.close();
        return 'It started.';
      },
      (error: unknown) => (error as Error).message,
    );
  }

  const controllerWith = (options: IdempotentOptions): ModuleMetadata => {
    @Controller()
    class Charges {
      @Post('charges')
      @Idempotent(options)
      charge(): string {
        return 'charged';
      }
    }
    return { controllers: [Charges] };
  };

  it.each<[string, Partial<IdempotencyModuleOptions>, IdempotentOptions, string]>([
    ["is claimed by `claim: 'transaction'`", {}, { ...MANUAL, claim: 'transaction' }, "Use `claim: 'lease'`"],
    ['does not require a key', {}, { ...MANUAL, required: false }, 'Require a key'],
    ['has no secret', { providerKeySecret: undefined as never }, MANUAL, 'Set `providerKeySecret`'],
    ['has a secret that can be guessed', { providerKeySecret: 'short' }, MANUAL, '16 characters'],
  ])('with steps in a handler that %s', async (_, idempotency, options, remedy) => {
    expect(await refusal(idempotency, controllerWith(options))).toContain(remedy);
  });

  it('with steps in a handler that writes its own response', async () => {
    @Controller()
    class Charges {
      @Post('charges')
      @Idempotent(MANUAL)
      charge(@Res() response: { end(): void }): void {
        response.end();
      }
    }
    expect(await refusal({}, { controllers: [Charges] })).toContain('Use @Res({ passthrough: true })');
  });

  it.each<[string, IdempotentOptions]>([
    ['of another name', { ...MANUAL, endpoint: 'refunds' }],
    ['without steps', { endpoint: 'charges' }],
  ])('with a reconciler of an endpoint %s', async (_, options) => {
    @Injectable()
    class ChargesReconciler {
      @Reconciles('charges')
      reconcile(): null {
        return null;
      }
    }
    const module = { ...controllerWith(options), providers: [ChargesReconciler] };
    expect(await refusal({}, module)).toContain("ChargesReconciler.reconcile reconciles 'charges'");
  });
});
