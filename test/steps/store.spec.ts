import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { type Passing, type Watch, watchable, watching } from '../protocol/statement-watch.js';
import { eventually } from '../module/gate.js';
import { pay } from '../module/work-app.js';
import { Callee, type Play, type PlayAnswer, Stage } from './plays.js';

jest.setTimeout(30_000);

let stage: Stage;
let key: string;

beforeAll(async () => {
  stage = await Stage.open({ idempotency: { acquireTimeoutMs: 300 }, typeorm: { poolSize: 3 } });
  watchable(stage.app.dataSource);
});

afterAll(() => stage?.close());

beforeEach(() => {
  key = randomUUID();
});

const payments = () => stage.app.witness.payments(key);

const charging =
  ({ call }: Callee): Play =>
  async (operation) => {
    const charge = await operation.step('charge', call);
    return operation.commit(async (manager) => {
      await pay(manager, operation.key, charge);
      return { charge };
    });
  };

/** The same, with something done at each of its statements. */
const watched =
  (watch: Watch, play: Play): Play =>
  (operation) =>
    watching(watch, () => play(operation));

const at =
  (statement: string, act: (passing: Passing) => Promise<unknown>): Watch =>
  (passing) =>
    passing.statement === statement ? act(passing) : passing.send();

function once(act: (passing: Passing) => Promise<unknown>): (passing: Passing) => Promise<unknown> {
  let hasHappened = false;
  return (passing) => {
    if (hasHappened) return passing.send();
    hasHappened = true;
    return act(passing);
  };
}

async function kill({ client }: Passing): Promise<void> {
  const backend = (client as unknown as { readonly processID: number }).processID;
  await stage.app.witness.rows('SELECT pg_terminate_backend($1)', backend);
}

function expectUnavailable(answer: PlayAnswer): void {
  expect(answer).toMatchObject({ status: 503, retryAfter: '1', body: { code: 'idempotency-store-unavailable' } });
}

const atRest = () => eventually('the pool is at rest', () => stage.app.isPoolAtRest());

describe('a store that fails', () => {
  it('before the announcement is committed, is answered 503 without a call', async () => {
    const provider = new Callee('ch_1');
    const failing = at('idempotency_step_intend', async (passing) => {
      await kill(passing);
      return passing.send();
    });
    expectUnavailable(await stage.play(key, watched(failing, charging(provider))));
    expect(provider.calls).toEqual([]);
    expect(await stage.steps(key)).toEqual([]);
    expect((await stage.play(key, charging(provider))).status).toBe(201);
    await atRest();
  });

  it('after the announcement is committed, is answered 503 without a call, and the retry knows of the announcement', async () => {
    const provider = new Callee('ch_1');
    const deaf = at('idempotency_step_intend', async (passing) => {
      await passing.send();
      await kill(passing);
      throw new Error('Connection terminated unexpectedly');
    });
    expectUnavailable(await stage.play(key, watched(deaf, charging(provider))));
    expect(provider.calls).toEqual([]);
    expect(await stage.steps(key)).toMatchObject([{ tries: 1, result: null }]);
    expect((await stage.play(key, charging(provider))).status).toBe(201);
    expect(provider.calls).toMatchObject([{ tries: 2 }]);
    await atRest();
  });

  it.each<[when: string, failure: (passing: Passing) => Promise<unknown>]>([
    [
      'before a result is kept',
      async (passing) => {
        await kill(passing);
        return passing.send();
      },
    ],
    [
      'after a result is kept',
      async (passing) => {
        await passing.send();
        await kill(passing);
        throw new Error('Connection terminated unexpectedly');
      },
    ],
  ])('%s, is told again what came of the call', async (_, failure) => {
    const provider = new Callee('ch_1');
    const failing = at('idempotency_step_finish', once(failure));
    expect(await stage.play(key, watched(failing, charging(provider)))).toMatchObject({
      status: 201,
      body: { charge: 'ch_1' },
    });
    expect(provider.calls).toHaveLength(1);
    expect(await payments()).toEqual(['ch_1']);
    await atRest();
  });

  it('for as long as a result is to be kept, is answered 503, and the retry finds it out', async () => {
    const provider = new Callee('ch_1');
    const failing = at('idempotency_step_finish', async (passing) => {
      await kill(passing);
      return passing.send();
    });
    expectUnavailable(await stage.play(key, watched(failing, charging(provider))));
    expect(await stage.steps(key)).toMatchObject([{ tries: 1, result: null }]);
    expect(await payments()).toEqual([]);
    expect((await stage.play(key, charging(provider))).status).toBe(201);
    expect(provider.calls.map(({ tries }) => tries)).toEqual([1, 2]);
    await atRest();
  });

  it('by having no connection free between two steps, is answered 503, and the retry goes on where it was', async () => {
    const [first, second] = [new Callee('au_1'), new Callee('ch_1')];
    const others = ['one', 'two', 'three'].map(() => stage.app.dataSource.createQueryRunner());
    const play =
      (between: () => Promise<unknown>): Play =>
      async (operation) => {
        await operation.step('authorize', first.call);
        await between();
        const charge = await operation.step('charge', second.call);
        return operation.commit((manager) => pay(manager, operation.key, charge));
      };
    let answer: PlayAnswer;
    try {
      const exhausted = play(() => Promise.all(others.map((runner) => runner.connect())));
      answer = await stage.play(key, exhausted);
    } finally {
      await Promise.all(others.map((runner) => runner.release()));
    }
    expectUnavailable(answer);
    expect([first.calls.length, second.calls.length]).toEqual([1, 0]);
    await stage.pass(key);
    expect(
      (
        await stage.play(
          key,
          play(() => Promise.resolve()),
        )
      ).status,
    ).toBe(201);
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
    expect(await payments()).toEqual(['ch_1']);
    await atRest();
  });
});

describe('a claim that the database has lost in a crash', () => {
  it('makes no call', async () => {
    const provider = new Callee('ch_1');
    const forgetful: Play = async (operation) => {
      await stage.app.witness.rows('DELETE FROM idempotency_records WHERE key = $1', key);
      return charging(provider)(operation);
    };
    expect(await stage.play(key, forgetful)).toMatchObject({
      status: 409,
      retryAfter: '1',
      body: { code: 'idempotency-request-in-progress' },
    });
    expect(provider.calls).toEqual([]);
    expect(await stage.steps(key)).toEqual([]);
    expect((await stage.play(key, charging(provider))).status).toBe(201);
  });
});

describe('what is said of a call', () => {
  it('is on disk before it is acted upon, also where the database is set not to wait for the disk', async () => {
    const { witness } = stage.app;
    await witness.rows('CREATE TABLE durability (of text NOT NULL, setting text NOT NULL)');
    await witness.rows(
      `CREATE FUNCTION note_durability() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO durability VALUES (NEW.name || ' ' || coalesce(NEW.result, 'announced'), current_setting('synchronous_commit'));
         RETURN NULL; END $$`,
    );
    await witness.rows(
      `CREATE TRIGGER note_durability AFTER INSERT OR UPDATE ON idempotency_steps
         FOR EACH ROW EXECUTE FUNCTION note_durability()`,
    );
    const lax = await Stage.open({
      url: stage.url,
      typeorm: { extra: { options: '-c synchronous_commit=off' } },
    });
    try {
      expect((await lax.play(key, charging(new Callee('ch_1')))).status).toBe(201);
    } finally {
      await lax.close();
      await witness.rows('DROP TRIGGER note_durability ON idempotency_steps');
    }
    expect(await witness.rows('SELECT * FROM durability ORDER BY of')).toEqual([
      { of: 'charge [1,"succeeded","ch_1"]', setting: 'on' },
      { of: 'charge announced', setting: 'on' },
    ]);
  });
});

describe('a call whose announcement took longer than its claim allows', () => {
  it('is not made', async () => {
    const provider = new Callee('ch_1');
    // The process was paused: for it, six seconds have gone by since it announced the call.
    const pausing = at('idempotency_step_intend', async (passing) => {
      const answer = await passing.send();
      const now = performance.now.bind(performance);
      jest.spyOn(performance, 'now').mockImplementation(() => now() + 6_000);
      return answer;
    });
    try {
      expectUnavailable(await stage.play(key, watched(pausing, charging(provider))));
    } finally {
      jest.restoreAllMocks();
    }
    expect(provider.calls).toEqual([]);
    expect(await stage.steps(key)).toEqual([]);
    expect((await stage.play(key, charging(provider))).status).toBe(201);
  });
});
