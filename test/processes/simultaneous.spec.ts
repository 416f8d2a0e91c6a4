import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { Book } from './book.js';
import { type Running, startDemo } from './process.js';
import { type Answer, pay } from './request.js';

const ROUNDS = 20;
const REQUESTS = 50;

let database: TestDatabase;
let book: Book;
let processes: Running[];

beforeAll(async () => {
  database = await createTestDatabase();
  processes = await Promise.all([startDemo(database.url), startDemo(database.url)]);
  book = await Book.open(database.url);
}, 60_000);

afterAll(async () => {
  await Promise.all(processes?.map((running) => running.kill()) ?? []);
  await book?.close();
  await database?.drop();
}, 30_000);

it(`${REQUESTS} identical requests at once, over two processes, make one payment, ${ROUNDS} times over`, async () => {
  const winsOf = [0, 0];
  const seen = { refusals: 0, replays: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const request = { key: randomUUID(), amount: 1_000 + round };
    // Each request goes to the other process than the one before it, and each round begins with the other one.
    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, async (_, index) => {
        const at = (index + round) % 2;
        return { at, ...(await pay(processes[at]!.port, request)) };
      }),
    );

    const winners = answers.filter(({ status, isReplay }) => status === 201 && !isReplay);
    expect(winners).toHaveLength(1);
    const [winner] = winners;
    winsOf[winner!.at]!++;
    const others = answers.filter((answer) => answer !== winner);
    expect(others.filter((answer) => !isRefusal(answer) && !isReplayOf(winner!, answer))).toEqual([]);
    seen.refusals += others.filter(isRefusal).length;
    seen.replays += others.filter((answer) => isReplayOf(winner!, answer)).length;
    for (const at of [0, 1]) {
      expect(answers.filter((answer) => answer.at === at)).toHaveLength(REQUESTS / 2);
      expect(isReplayOf(winner!, await pay(processes[at]!.port, request))).toBe(true);
    }
    await book.expectPaidOnce(request);
  }
  expect(winsOf.filter((wins) => wins === 0)).toEqual([]);
  expect(seen.refusals).toBeGreaterThan(0);
  expect(seen.replays + seen.refusals).toBe(ROUNDS * (REQUESTS - 1));
}, 120_000);

function isRefusal({ status, code }: Answer): boolean {
  return status === 409 && code === 'idempotency-request-in-progress';
}

function isReplayOf(winner: Answer, { status, isReplay, body }: Answer): boolean {
  return status === 201 && isReplay && body === winner.body;
}
