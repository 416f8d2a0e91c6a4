import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { Book } from './book.js';
import { type Place, startWorker, type StoppableWorker } from './process.js';
import { pay, type PaymentRequest } from './request.js';

/** How often each crash is caused; CRASHES asks for more. */
const CRASHES = Number(process.env.CRASHES ?? 1);

const BEFORE_COMMIT: [where: string, place: Place][] = [
  ['after its claim, before its handler', { statement: '^idempotency_claim$', when: 'after' }],
  ['as its transaction begins', { statement: '^BEGIN', when: 'after' }],
  ['inside its handler, after it has written', { statement: 'UPDATE "accounts" .*\\+', when: 'after' }],
  ['before its recording', { statement: '^idempotency_record$', when: 'before' }],
  ['after its recording', { statement: '^idempotency_record$', when: 'after' }],
  ['right before its COMMIT', { statement: '^COMMIT$', when: 'before' }],
];

let database: TestDatabase;
let book: Book;
let survivor: StoppableWorker;
let doomed: StoppableWorker;
let amount = 100;

const start = (): Promise<StoppableWorker> => startWorker({ databaseUrl: database.url, leaseMs: 60_000 });

beforeAll(async () => {
  database = await createTestDatabase();
  [survivor, doomed] = await Promise.all([start(), start()]);
  book = await Book.open(database.url);
}, 60_000);

afterAll(async () => {
  await Promise.all([survivor?.kill(), doomed?.kill()]);
  await book?.close();
  await database?.drop();
}, 30_000);

describe.each(BEFORE_COMMIT)('a process that is killed %s', (_, place) => {
  it(
    'has paid nothing, and the retry pays once the lease has run out',
    async () => {
      for (let crash = 0; crash < CRASHES; crash++) {
        const request = { key: randomUUID(), amount: ++amount };
        await crashDuring(request, place);

        expect(await book.payments(request)).toBe(0);
        expect(await book.record(request)).toEqual({ state: 'in_progress', is_live: true });
        const early = await pay(survivor.port, request);
        expect(early).toMatchObject({ status: 409, code: 'idempotency-request-in-progress' });
        expect(await book.payments(request)).toBe(0);

        await book.lapse(request);
        const retry = await pay(survivor.port, request);
        expect(retry).toMatchObject({ status: 201, isReplay: false });
        await expectPaidFor(request, retry.body);
      }
    },
    30_000 * CRASHES,
  );
});

describe('a process that is killed after its COMMIT, before it has answered', () => {
  it(
    'has paid, and the retry is given the recorded answer',
    async () => {
      for (let crash = 0; crash < CRASHES; crash++) {
        const request = { key: randomUUID(), amount: ++amount };
        await crashDuring(request, { statement: '^COMMIT$', when: 'after' });

        expect(await book.payments(request)).toBe(1);
        const retry = await pay(survivor.port, request);
        expect(retry).toMatchObject({ status: 201, isReplay: true });
        await expectPaidFor(request, retry.body);
      }
    },
    30_000 * CRASHES,
  );
});

/** Has a process die at the given place while it serves the request; its client gets no byte of an answer. */
async function crashDuring(request: PaymentRequest, place: Place): Promise<void> {
  const { reached } = await doomed.stopAt(place);
  const first = pay(doomed.port, request);
  await reached;
  const [, next] = await Promise.all([doomed.kill(), start()]);
  doomed = next;
  expect(await first).toMatchObject({ raw: '' });
  await book.untilNoTransactionIsOpen();
}

/** Exactly one payment, and every further retry on either process is given the same bytes. */
async function expectPaidFor(request: PaymentRequest, body: string): Promise<void> {
  await book.expectPaidOnce(request);
  for (const { port } of [survivor, doomed]) {
    expect(await pay(port, request)).toMatchObject({ status: 201, isReplay: true, body });
  }
  await book.expectPaidOnce(request);
}
