import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from '../wire/gate.js';
import { ENDINGS, type EndingName } from './endings.js';
import type { Answer } from './model.js';
import { type Asked, claimOf, ENDPOINT_NAMES, ENDPOINTS, KEYS, nameOf, type Operation, TENANTS } from './operations.js';
import { type Seen, seenAs, seenIn } from './wire.js';
import { PLATFORMS, startWorksApp, type WorksApp } from './works-app.js';
import { prepareDatabase, World } from './world.js';

const RUNS = Number(process.env.BURST_RUNS ?? 40);
/** BURST_SEED repeats the bursts of an earlier run, though not how their requests interleaved. */
const SEED = Number(process.env.BURST_SEED ?? randomInt(2 ** 31));

/** As many as the pool has connections. */
const LARGEST = 24;
const RUN_LIMIT_MS = 30_000;

/** One of the requests that are sent at once, and how its handler ends where it is entered. */
interface Shot {
  readonly operation: Operation;
  readonly asked: Asked;
  readonly ending: EndingName;
}

/** What a shot was answered. */
interface Hit extends Shot {
  readonly attempt: number;
  readonly seen: Seen;
}

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

  /** Sends all at once, each on a connection of its own; their handlers wait for nobody. */
  async function fire(world: World, shots: readonly Shot[]): Promise<Hit[]> {
    return Promise.all(
      shots.map(async (shot) => {
        const attempt = nextAttempt++;
        const { operation, asked, ending } = shot;
        world.letGo(attempt, ending);
        await world.send(attempt, { ...ENDPOINTS[operation.endpoint].requests[asked], ...operation, isTurned: false });
        return { ...shot, attempt, seen: seenIn(await world.answerTo(attempt)) };
      }),
    );
  }

  async function inWorld(burst: (world: World) => Promise<void>): Promise<void> {
    const world = new World(app, witness);
    await world.begin();
    await burst(world);
    await eventually('the pool is at rest', () => app.connections() === 0);
  }

  const operations = fc.record({
    tenant: fc.constantFrom(...TENANTS),
    endpoint: fc.constantFrom(...ENDPOINT_NAMES),
    key: fc.constantFrom(...KEYS),
  });

  it(`does once what is asked up to ${LARGEST} times at once, in ${RUNS} bursts`, async () => {
    console.info(`BURST_SEED=${SEED}`);
    const statuses = new Set<string>();
    const property = fc.asyncProperty(operations, fc.integer({ min: 2, max: LARGEST }), (operation, size) =>
      inWorld(async (world) => {
        const shot = { operation, asked: 'a', ending: 'done' } as const;
        const hits = await fire(world, Array<Shot>(size).fill(shot));
        const [effect, ...others] = await world.effects();
        expect(others).toEqual([]);
        expect(hits.filter(isOwn).map(({ attempt }) => attempt)).toEqual([effect]);
        for (const hit of hits) {
          expectDue(hit, hits, [effect!]);
          statuses.add(`${hit.seen.status} ${hit.seen.isReplay}`);
        }
        const [later] = await fire(world, [shot]);
        expect(later!.seen).toEqual(seenAs({ kind: 'replay', ending: 'done', attempt: effect! }, pathOf(shot)));
        expect(await world.effects()).toEqual([effect]);
      }),
    );
    await fc.assert(property, { seed: SEED, numRuns: RUNS, timeout: RUN_LIMIT_MS });
    // Some came while the first was at work: without them nothing was shown.
    expect([...statuses].sort()).toEqual(expect.arrayContaining(['201 false', '409 false']));
  }, 900_000);

  it(`tells every client the truth of whatever is asked at once, in ${RUNS} bursts`, async () => {
    const shots = fc.array(
      fc.record({
        operation: operations,
        asked: fc.constantFrom('a' as const, 'a' as const, 'b' as const),
        ending: fc.constantFrom<EndingName>('done', 'done', 'refused', 'unavailable', 'swallowed a database error'),
      }),
      { minLength: 2, maxLength: LARGEST, size: 'max' },
    );
    const property = fc.asyncProperty(shots, (burst) =>
      inWorld(async (world) => {
        const first = await fire(world, burst);
        const second = await fire(world, burst);
        const effects = await world.effects();
        for (const hit of first) expectDue(hit, first, effects);
        for (const hit of second) expectDue(hit, [...first, ...second], effects);
        expectOneEach([...first, ...second], effects);
        expect((await world.records()).filter(({ state }) => state !== 'completed')).toEqual([]);
      }),
    );
    await fc.assert(property, { seed: SEED, numRuns: RUNS, timeout: RUN_LIMIT_MS });
  }, 900_000);
});

const pathOf = ({ operation, asked }: Shot): string => ENDPOINTS[operation.endpoint].requests[asked].path;

/** Its own handler was entered, and this is how that ended. */
function isOwn(hit: Hit): boolean {
  return isDeepStrictEqual(hit.seen, seenAs(ownAnswer(hit), pathOf(hit)));
}

/** Its answer is given to all who ask again. */
function isKept(hit: Hit): boolean {
  return (hit.ending === 'done' || hit.ending === 'refused') && isOwn(hit);
}

function ownAnswer({ ending, attempt }: Hit): Answer {
  if (ending !== 'swallowed a database error') return { kind: 'own', ending, attempt };
  return { kind: 'problem', status: ENDINGS[ending].status, code: ENDINGS[ending].code };
}

/** An answer is true: the attempt's own, the replay of one that stands, or a refusal for which there is a reason. */
function expectDue(hit: Hit, all: readonly Hit[], effects: readonly number[]): void {
  const rivals = all.filter((other) => nameOf(other.operation) === nameOf(hit.operation) && other !== hit);
  const standing = rivals.filter((other) => other.asked === hit.asked && isKept(other));
  const answers: Answer[] = [
    ownAnswer(hit),
    ...standing.map(({ ending, attempt }): Answer => ({ kind: 'replay', ending, attempt })),
    ...inProgress(rivals),
    ...(rivals.some(({ asked }) => asked !== hit.asked) ? [REUSED] : []),
    ...(rivals.length > 0 && isOvertakable(hit) ? [UNAVAILABLE] : []),
  ];
  expect(answers.map((answer) => seenAs(answer, pathOf(hit)))).toContainEqual(hit.seen);
  const isCommitted = hit.ending === 'done' && isOwn(hit);
  expect(effects.includes(hit.attempt)).toBe(isCommitted);
}

/** No operation has two effects, none both an effect and a refusal that stands, and each is answered in one way. */
function expectOneEach(hits: readonly Hit[], effects: readonly number[]): void {
  const kept = new Map<string, Set<number>>();
  for (const hit of hits) {
    if (!isKept(hit)) continue;
    const name = nameOf(hit.operation);
    kept.set(name, (kept.get(name) ?? new Set()).add(hit.attempt));
  }
  expect([...kept.values()].filter(({ size }) => size > 1)).toEqual([]);
  expect(new Set(effects).size).toBe(effects.length);
}

/** With the work of a refusal its lock is undone: another may come in before the refusal is recorded. */
function isOvertakable({ operation, ending }: Shot): boolean {
  return claimOf(operation) === 'transaction' && ending === 'refused';
}

const UNAVAILABLE: Answer = { kind: 'problem', status: 503, code: 'idempotency-store-unavailable', retryAfter: 1 };
const REUSED: Answer = { kind: 'problem', status: 422, code: 'idempotency-key-reused' };

/** While another is at work, or has just been; the rest of a lease, or the least there is. */
function inProgress(rivals: readonly Hit[]): Answer[] {
  if (rivals.length === 0) return [];
  return [60, 1].map((retryAfter) => ({
    kind: 'problem',
    status: 409,
    code: 'idempotency-request-in-progress',
    retryAfter,
  }));
}
