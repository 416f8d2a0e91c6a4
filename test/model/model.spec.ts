import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from '../wire/gate.js';
import { end } from './happenings.js';
import { Model } from './model.js';
import { ENDPOINT_NAMES, type Operation } from './operations.js';
import { PLAIN, request } from './requests.js';
import type { Step } from './step.js';
import { anyOperation, steps } from './steps.js';
import { PLATFORMS, startWorksApp, type WorksApp } from './works-app.js';
import { prepareDatabase, World } from './world.js';

const USUAL_RUNS = 70;
const RUNS = Number(process.env.MODEL_RUNS ?? USUAL_RUNS);
/** MODEL_SEED repeats the sequences of an earlier run, MODEL_PATH and the replay path those of one that failed. */
const SEED = Number(process.env.MODEL_SEED ?? randomInt(2 ** 31));
const PATH = process.env.MODEL_PATH;
const REPLAY_PATH = process.env.MODEL_REPLAY_PATH;

/** Each must happen in a run of the usual length, or it has not shown what it says. */
const MUST_HAPPEN = [
  'arrival: replay',
  'arrival: idempotency-key-reused',
  'arrival: idempotency-request-in-progress',
  'arrival: idempotency-response-unavailable',
  'takeover',
  'expired: anew',
  'pipe failure',
  'committed',
  'refusal recorded',
  'released',
  'lost: replay',
  'lost: idempotency-request-in-progress',
  'lost: to nobody',
];

const MAX_STEPS = 80;
/** A request that nobody answers fails its sequence. */
const RUN_LIMIT_MS = 30_000;

jest.setTimeout(60_000);

let database: TestDatabase;
let witness: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  witness = new Client(database.url);
  await witness.connect();
});

afterAll(async () => {
  await witness?.end();
  await database?.drop();
});

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: WorksApp;
  let nextAttempt = 1;

  beforeAll(async () => {
    app = await startWorksApp(platform, database.url);
  });

  afterAll(() => app?.close());

  it(`answers, commits and records as the model says, in ${RUNS} sequences of overlapping requests`, async () => {
    console.info(`MODEL_SEED=${SEED}`);
    const tally = new Map<string, number>();
    const sequences = fc.oneof(
      { weight: ENDPOINT_NAMES.length, arbitrary: sequencesOf(anyOperation) },
      // Where everything happens to one operation, what is rare elsewhere is not.
      ...ENDPOINT_NAMES.map((endpoint) => {
        const operation = fc.constant<Operation>({ tenant: 'alice', endpoint, key: 'k1' });
        return { weight: 1, arbitrary: sequencesOf(operation) };
      }),
    );
    const property = fc.asyncProperty(sequences, async (sequence) => {
      const model = new Model(nextAttempt);
      const world = new World(app, witness);
      await world.begin();
      try {
        await fc.asyncModelRun(() => ({ model, real: world }), sequence);
        await finish(model, world);
        for (const what of model.happened) tally.set(what, (tally.get(what) ?? 0) + 1);
      } finally {
        ({ nextAttempt } = model);
        // What a failed sequence left behind must not stand in the way of the next.
        for (const { number } of model.underWay) world.letGo(number, 'unavailable');
        await eventually('the pool is at rest', () => app.connections() === 0);
      }
    });
    await fc.assert(property, {
      seed: SEED,
      numRuns: RUNS,
      timeout: RUN_LIMIT_MS,
      ...(PATH !== undefined && { path: PATH }),
    });
    console.info(Object.fromEntries([...tally].sort()));
    if (RUNS >= USUAL_RUNS && PATH === undefined) expect(MUST_HAPPEN.filter((what) => !tally.has(what))).toEqual([]);
  }, 900_000);

  const sequencesOf = (operation: fc.Arbitrary<Operation>) =>
    fc.commands(steps(operation), {
      maxCommands: MAX_STEPS,
      size: 'max',
      ...(REPLAY_PATH !== undefined && { replayPath: REPLAY_PATH }),
    });

  /** Lets everybody end, and asks for everything once more. */
  async function finish(model: Model, world: World): Promise<void> {
    const run = async (step: Step): Promise<void> => {
      if (step.check(model)) await step.run(model, world);
    };
    while (model.underWay.length > 0) await run(end(0, 'done'));
    for (const { operation, asked } of [...model.records.values()]) await run(request(operation, asked, PLAIN));
    while (model.underWay.length > 0) await run(end(0, 'done'));
    expect([...model.records.values()].filter(({ state }) => state === 'in progress')).toEqual([]);
  }
});
