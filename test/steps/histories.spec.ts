import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { choicesFor } from '../protocol/random.js';
import { type ChargingApp, startChargingApp } from './charging/app.js';
import { History, type Scene } from './history.js';
import { type Provider, startProvider, World } from './world.js';

/** HISTORIES asks for more, or fewer. */
const HISTORIES = Number(process.env.HISTORIES ?? 1_000);
/** HISTORY_SEED repeats the choices of an earlier run, though not how they interleaved. */
const SEED = Number(process.env.HISTORY_SEED ?? randomInt(2 ** 31));
const PER_BATCH = 100;
const AT_ONCE = 12;

/** Each must happen among a thousand, or they have not shown what they say. */
const MUST_HAPPEN = [
  'told 201',
  'told 201 again',
  'told 422 idempotency-step-refused',
  'told 409 idempotency-outcome-unknown',
  'told 409 idempotency-request-in-progress',
  'told 503 idempotency-store-unavailable',
  'overtaken',
  'overtaken during the call',
  'killed',
  'reconciled',
  'held',
  'happened',
  'did_not_happen',
  ...['error_before', 'error_after', 'cut_before', 'cut_after', 'malformed', 'rate_limited', 'slow', 'no_answer'],
];

let world: World;
let apps: [ChargingApp, ChargingApp];
let keeping: Provider;
let searchable: Provider;
let blind: Provider;

beforeAll(async () => {
  world = await World.open();
  [keeping, searchable, blind] = await Promise.all([
    startProvider(),
    startProvider({ keys: 'ignored' }),
    startProvider({ keys: 'ignored', search: 'off' }),
  ]);
  const start = () => startChargingApp({ url: world.url, poolSize: 6 });
  apps = [await start(), await start()];
}, 30_000);

afterAll(async () => {
  await Promise.all(apps?.map((app) => app.stop()) ?? []);
  await Promise.all([world?.close(), keeping?.stop(), searchable?.stop(), blind?.stop()]);
}, 30_000);

it(`${HISTORIES} histories of faults, takeovers and kills leave both books equal: nothing is charged twice, nothing is lost`, async () => {
  console.info(`HISTORY_SEED=${SEED}`);
  const tally = new Map<string, number>();
  const providers = { repeat: keeping.psp, look_up: searchable.psp, hold: blind.psp };
  const scene: Scene = { world, apps, providers, tally, reconciling: new Set() };
  const held: History[] = [];

  for (let from = 0; from < HISTORIES; from += PER_BATCH) {
    const to = Math.min(from + PER_BATCH, HISTORIES);
    const histories: History[] = [];
    await inLanes(from, to, async (number) => {
      const choices = choicesFor(SEED, number);
      const isToldOutcomes = choices.chance(0.8);
      const history = await History.begin(scene, choices);
      histories.push(history);
      await history.play();
      if (!(await history.end({ isToldOutcomes }))) held.push(history);
    });
    expect({ seed: SEED, defects: await defectsOf(histories, held) }).toEqual({ seed: SEED, defects: [] });
    for (const { psp } of [keeping, searchable, blind]) await psp.send('DELETE', '/control/calls');
  }

  await expectHeldToBeSeen(held);
  for (const history of held) await history.end({ isToldOutcomes: true });
  await expectBooksToBeEqual();
  expect(await world.rows('SELECT * FROM idempotency_steps')).toEqual([]);

  console.info(Object.fromEntries([...tally].sort()));
  if (HISTORIES >= 1_000) expect(MUST_HAPPEN.filter((what) => !tally.has(what))).toEqual([]);
}, 1_200_000);

/** Runs the histories `from` to `to`, so many at once. */
async function inLanes(from: number, to: number, run: (number: number) => Promise<void>): Promise<void> {
  let next = from;
  const lane = async (): Promise<void> => {
    while (next < to) await run(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** What is wrong with each history that has ended, by both books and by everything that its client was told. */
async function defectsOf(histories: readonly History[], held: readonly History[]): Promise<object[]> {
  const defects: object[] = [];
  for (const history of histories) {
    if (held.includes(history)) continue;
    const { order, psp, told } = history;
    const charges = await psp.rows<{ id: string; captured: number }>(
      'SELECT id, captured::int FROM charges WHERE reference = $1',
      order.id,
    );
    const ledger = await world.ledger(order);
    const isRefused = order.card === 'tok_declined';
    const paid = charges.map(({ id, captured }) => ({ charge: id, amount: captured }));
    const expected = isRefused ? [] : [{ charge: paid[0]?.charge, amount: order.amount }];
    const isRight =
      JSON.stringify([paid, ledger]) === JSON.stringify([expected, expected]) &&
      new Set(told.filter(({ status }) => status === (isRefused ? 422 : 201)).map(({ body }) => body)).size === 1 &&
      !told.some(({ status }) => status === (isRefused ? 201 : 422)) &&
      (await world.steps(order)).length === 0 &&
      (await world.record(order))?.state === 'completed';
    if (!isRight) defects.push({ ...(await history.evidence()), charges, ledger });
  }
  return defects;
}

/** Whoever looks for what waits finds all of it, and nothing else. */
async function expectHeldToBeSeen(held: readonly History[]): Promise<void> {
  // A claim whose session was killed may still have its lease.
  for (const { order } of held) await world.pass(order);
  const waiting = await world.rows<{ key: string }>(
    `SELECT DISTINCT key FROM idempotency_steps JOIN idempotency_records USING (tenant, endpoint, key)
      WHERE result IS NULL AND state = 'in_progress' AND (locked_until IS NULL OR locked_until <= now())`,
  );
  expect(waiting.map(({ key }) => key).sort()).toEqual(held.map(({ order }) => order.id).sort());
}

/** What each provider says it has taken is what our ledger says was paid there. */
async function expectBooksToBeEqual(): Promise<void> {
  for (const { psp } of [keeping, searchable, blind]) {
    const { charges } = (await psp.get('/book')).json() as { charges: { id: string; captured: number }[] };
    const ledger = await world.rows<{ charge: string; amount: number }>(
      'SELECT charge, ledger.amount FROM ledger JOIN orders ON orders.id = "order" WHERE provider_port = $1',
      psp.port,
    );
    const taken = charges.map(({ id, captured }) => `${id} ${captured}`).sort();
    expect(taken).toEqual(ledger.map(({ charge, amount }) => `${charge} ${amount}`).sort());
  }
}
