import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client, Pool } from 'pg';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { findings, untilQuiet, verdictOn } from './judge.js';
import { count, type Field, Round, type Told } from './race.js';
import { LEASE, REPEATABLE, SERIALIZABLE, TRANSACTION } from './strategies.js';
import { createTables, startWorker, type Worker } from './worker.js';

const ROUNDS = Number(process.env.RACE_ROUNDS ?? 10_000);
const ROUNDS_PER_BATCH = 1_000;
const ROUNDS_AT_ONCE = 8;
/** RACE_SEED repeats the choices of an earlier run, though not how its workers interleaved. */
const SEED = Number(process.env.RACE_SEED ?? randomInt(2 ** 31));

interface Race {
  readonly name: string;
  readonly rounds: number;
  readonly strategies: Field['strategies'];
  /** Each must happen, or the race has not shown what it says. */
  readonly mustHappen: readonly string[];
}

const ALWAYS = [
  'replay',
  'refusal: in progress',
  'refusal: store unavailable',
  'intruder: mismatch',
  'stall at INSERT',
  'fate: recorded',
  'fate: released',
  'fate: failed',
  'fate: lost',
  'a COMMIT without answer turned out failed',
];

/** Too seldom to be sure of in fewer races. */
const IN_THOUSANDS = [
  'terminate at INSERT',
  'terminate at COMMIT',
  'cut at INSERT',
  'cut at COMMIT',
  'die at INSERT',
  'die at COMMIT',
  'a COMMIT without answer turned out recorded',
];

const OF_LEASES = ['takeover', 'renewal', 'loss noticed by a renewal', 'stall at idempotency_record'];

const OF_TRANSACTIONS = [
  'lock refused',
  'claim after one that left nothing',
  'stall at idempotency_insert',
  'conflict at UPDATE',
];

const RACES: Race[] = [
  {
    name: 'leases',
    rounds: ROUNDS,
    strategies: [LEASE],
    mustHappen: [...ALWAYS, ...IN_THOUSANDS, ...OF_LEASES],
  },
  {
    name: 'transactions',
    rounds: Math.ceil(ROUNDS * 0.8),
    strategies: [TRANSACTION, TRANSACTION, TRANSACTION, REPEATABLE, SERIALIZABLE],
    mustHappen: [...ALWAYS, ...IN_THOUSANDS, ...OF_TRANSACTIONS, 'conflict at COMMIT'],
  },
  {
    name: 'leases and transactions at once',
    rounds: Math.ceil(ROUNDS / 5),
    strategies: [LEASE, LEASE, LEASE, TRANSACTION, TRANSACTION, SERIALIZABLE],
    mustHappen: [...ALWAYS, ...OF_LEASES, ...OF_TRANSACTIONS, 'conflict at idempotency_reserve'],
  },
];

let database: TestDatabase;
let witness: Client;
let executioner: Pool;
let workers: Worker[];
let tally: Map<string, number>;

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

beforeEach(() => {
  tally = new Map();
});

describe.each(RACES)('$rounds races of $name, with kills', ({ name, rounds, strategies, mustHappen }) => {
  it('commits no operation twice, no effect without its record and no record without its effect', async () => {
    console.info(`RACE_SEED=${SEED}`);
    const [first, ...others] = workers;
    const told: Told[] = [];
    const field: Field = { seed: SEED, strategies, workers: [first!, ...others], executioner, tally, told };

    for (let from = 0; from < rounds; from += ROUNDS_PER_BATCH) {
      const to = Math.min(from + ROUNDS_PER_BATCH, rounds);
      const prefix = `${name}/batch-${from}-`;
      await inLanes(from, to, (number) => Round.run(field, number, `${prefix}${number}`));
      await untilQuiet(witness);
      await expectEachDoneOnce(prefix, to - from, told.splice(0));
    }
    // Once more over everything: nothing came late.
    await untilQuiet(witness);
    await expectEachDoneOnce(`${name}/batch-`, rounds, []);

    console.info(Object.fromEntries([...tally].sort()));
    expect(mustHappen.filter((what) => !tally.has(what))).toEqual([]);
  }, 900_000);
});

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
