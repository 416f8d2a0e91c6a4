import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client, Pool } from 'pg';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { findings, untilQuiet, verdictOn } from './judge.js';
import { count, type Field, Round, type Told } from './race.js';
import { createTables, startWorker, type Worker } from './worker.js';

const ROUNDS = Number(process.env.RACE_ROUNDS ?? 10_000);
const ROUNDS_PER_BATCH = 1_000;
const ROUNDS_AT_ONCE = 8;
/** RACE_SEED repeats the choices of an earlier run, though not how its workers interleaved. */
const SEED = Number(process.env.RACE_SEED ?? randomInt(2 ** 31));

/** Each must happen, or the race has not shown what it says. */
const MUST_HAPPEN = [
  'takeover',
  'replay',
  'renewal',
  'loss noticed by a renewal',
  'refusal: in progress',
  'refusal: store unavailable',
  'intruder: mismatch',
  'terminate',
  'cut',
  'die',
  'stall',
  'fate: recorded',
  'fate: released',
  'fate: failed',
  'fate: lost',
  'a COMMIT without answer turned out recorded',
  'a COMMIT without answer turned out failed',
];

let database: TestDatabase;
let witness: Client;
let executioner: Pool;
let workers: Worker[];
const tally = new Map<string, number>();

beforeAll(async () => {
  database = await createTestDatabase();
  await createTables(database.url);
  executioner = new Pool({ connectionString: database.url, max: 2 });
  witness = new Client(database.url);
  await witness.connect();
  const options = {
    url: database.url,
    poolSize: 8,
    tickMs: 4,
    onRenewal: (isOurs: boolean) => count(tally, isOurs ? 'renewal' : 'renewal of a claim that was gone'),
  };
  workers = await Promise.all([startWorker(options), startWorker(options), startWorker(options)]);
}, 30_000);

afterAll(async () => {
  await Promise.all(workers?.map((worker) => worker.stop()) ?? []);
  await Promise.all([witness?.end(), executioner?.end()]);
  await database?.drop();
}, 60_000);

it(`commits no operation twice, no effect without its record and no record without its effect, in ${ROUNDS} races with kills`, async () => {
  console.info(`RACE_SEED=${SEED}`);
  const [first, ...others] = workers;
  const told: Told[] = [];
  const field: Field = { seed: SEED, workers: [first!, ...others], executioner, tally, told };

  for (let from = 0; from < ROUNDS; from += ROUNDS_PER_BATCH) {
    const to = Math.min(from + ROUNDS_PER_BATCH, ROUNDS);
    const prefix = `batch-${from}-`;
    await inLanes(from, to, (number) => Round.run(field, number, `${prefix}${number}`));
    await untilQuiet(witness);
    await expectEachDoneOnce(prefix, to - from, told.splice(0));
  }
  // Once more over everything: nothing came late.
  await untilQuiet(witness);
  await expectEachDoneOnce('batch-', ROUNDS, []);

  console.info(Object.fromEntries([...tally].sort()));
  expect(MUST_HAPPEN.filter((what) => !tally.has(what))).toEqual([]);
}, 900_000);

/** Runs the rounds `from` to `to`, so many at once. */
async function inLanes(from: number, to: number, round: (number: number) => Promise<void>): Promise<void> {
  let next = from;
  const lane = async (): Promise<void> => {
    while (next < to) await round(next++);
  };
  await Promise.all(Array.from({ length: ROUNDS_AT_ONCE }, lane));
}

/** The tables against themselves, and against everything that was told while they were written. */
async function expectEachDoneOnce(prefix: string, operations: number, told: readonly Told[]): Promise<void> {
  const found = await findings(witness, prefix);
  const recorded = new Map(found.map((finding) => [finding.key, finding.recorded]));
  const violations = found.flatMap((finding) => {
    const verdict = verdictOn(finding);
    return verdict === null ? [] : [{ verdict, ...finding }];
  });
  const lies = told.filter(({ key, what, execution }) => (recorded.get(key) === execution) !== (what === 'answer'));
  expect({ seed: SEED, operations: found.length, violations, lies }).toEqual({
    seed: SEED,
    operations,
    violations: [],
    lies: [],
  });
}
