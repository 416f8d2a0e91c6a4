import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type StepOutcome } from 'nestjs-idempotency';

import { PostgresOutcomes } from '../../libs/idempotency/src/storage/postgres-outcomes.js';
import { gate } from '../module/gate.js';
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
  ({ call }: Callee): Play =>
  async (operation) => {
    const charge = await operation.step('charge', call, { whenUnknown: 'hold' });
    return operation.commit((manager) => pay(manager, operation.key, charge));
  };

const resolve = (outcome: StepOutcome, step = 'charge') =>
  stage.operations.resolve({ tenant: '', endpoint: 'plays', key }, step, outcome);

const HAPPENED: StepOutcome = { kind: 'happened', value: 'ch_1' };

describe('an outcome that somebody found out', () => {
  it('of an operation that is not known is put nowhere', async () => {
    expect(await resolve(HAPPENED)).toBe('not_found');
    expect(await stage.record(key)).toBeUndefined();
  });

  it('of an operation that has ended changes nothing', async () => {
    const provider = new Callee('ch_0');
    const told = await stage.play(key, charging(provider));
    expect(await resolve(HAPPENED)).toBe('not_found');
    expect(await stage.play(key, charging(provider))).toEqual({ ...told, isReplay: true });
    expect(await stage.steps(key)).toEqual([]);
  });

  it.each<StepOutcome>([HAPPENED, { kind: 'did_not_happen' }, { kind: 'refused', message: 'no' }])(
    'of a call that was never announced is put nowhere: $kind',
    async (outcome) => {
      await stage.play(key, charging(new Callee(500)));
      const rows = () =>
        stage.app.witness.rows(
          `SELECT r.xmin, s.xmin AS step_xmin, name FROM idempotency_records r JOIN idempotency_steps s USING (key) WHERE key = $1`,
          key,
        );
      const before = await rows();
      expect(await resolve(outcome, 'chrage')).toBe('not_found');
      // Nothing was written that a crash could leave behind.
      expect(await rows()).toEqual(before);
      expect(await stage.steps(key)).toMatchObject([{ name: 'charge', tries: 1 }]);
    },
  );

  it('is not put on record while somebody is at work on the operation', async () => {
    const [entered, go] = [gate(), gate()];
    const working = stage.play(key, (operation) =>
      operation.step('charge', async () => {
        entered.open();
        await go.passed;
        return { id: 'ch_0' };
      }),
    );
    await entered.passed;
    expect(await resolve(HAPPENED)).toBe('in_progress');
    go.open();
    expect((await working).status).toBe(201);
  });

  it('of a call that is known leaves what is known', async () => {
    const failing: Play = async (operation) => {
      await operation.step('charge', new Callee('ch_0').call);
      throw new Error('The rest failed.');
    };
    await stage.play(key, failing);
    expect(await resolve(HAPPENED)).toBeNull();
    expect(await stage.steps(key)).toMatchObject([{ tries: 1, result: '[1,"succeeded","ch_0"]' }]);
  });

  it.each(['[1,"succeeded","ch_1"]', null])(
    'before the call was made again says nothing of that try: %s',
    async (result) => {
      await stage.play(key, charging(new Callee(500)));
      const outcomes = new PostgresOutcomes(stage.app.dataSource);
      const seen = (await outcomes.find({ tenant: '', endpoint: 'plays', key }, 'charge'))!;
      await stage.play(key, (operation) => operation.step('charge', new Callee(500).call));
      const rows = () =>
        stage.app.witness.rows(
          'SELECT r.xmin, s.xmin AS step_xmin, s.result FROM idempotency_records r JOIN idempotency_steps s USING (key) WHERE key = $1',
          key,
        );
      const before = await rows();
      expect(await outcomes.put(seen, result)).toBe(false);
      expect(await rows()).toEqual(before);
      expect(await outcomes.put((await outcomes.find(seen.operation, 'charge'))!, result)).toBe(true);
    },
  );

  it('that cannot be kept is refused, and the operation is let go', async () => {
    await stage.play(key, charging(new Callee(500)));
    await expect(resolve({ kind: 'happened', value: () => 'ch_1' })).rejects.toThrow(TypeError);
    expect(await resolve(HAPPENED)).toBeNull();
    expect((await stage.play(key, charging(new Callee('never')))).status).toBe(201);
    expect(await stage.app.witness.payments(key)).toEqual(['ch_1']);
  });

  it('is told to the next attempt, with all that was said of a refusal', async () => {
    await stage.play(key, charging(new Callee(500)));
    const details = { code: 'card_declined' };
    expect(await resolve({ kind: 'refused', message: 'The bank says no.', details })).toBeNull();
    let refusal: unknown;
    await stage.play(key, async (operation) => {
      await operation.step('charge', new Callee('never').call).catch((error: unknown) => (refusal = error));
      return {};
    });
    expect(refusal).toMatchObject({ name: 'StepRefusedError', step: 'charge', message: 'The bank says no.', details });
  });
});
