import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { until } from '../protocol/until.js';
import { Book } from './book.js';
import { type Place, startWorker, type StoppableWorker } from './process.js';
import { type Answer, pay, type PaymentRequest } from './request.js';

const LEASE_MS = 1_500;

const PLACES: [where: string, place: Place][] = [
  ['inside its handler, before it has written', { statement: 'FOR UPDATE$', when: 'after' }],
  ['inside its handler, after it has written', { statement: 'UPDATE "accounts" .*\\+', when: 'after' }],
  ['before its recording', { statement: '^idempotency_record$', when: 'before' }],
  ['before its COMMIT', { statement: '^COMMIT$', when: 'before' }],
];

let database: TestDatabase;
let book: Book;
let paused: StoppableWorker;
let successor: StoppableWorker;
let amount = 100;

beforeAll(async () => {
  database = await createTestDatabase();
  const options = { databaseUrl: database.url, leaseMs: LEASE_MS };
  [paused, successor] = await Promise.all([startWorker(options), startWorker(options)]);
  book = await Book.open(database.url);
}, 60_000);

afterAll(async () => {
  await Promise.all([paused?.kill(), successor?.kill()]);
  await book?.close();
  await database?.drop();
});

it.each(PLACES)(
  'a worker that is paused past its lease %s pays nothing, and tells what its successor did',
  async (_, place) => {
    const request = { key: randomUUID(), amount: ++amount };
    const { reached } = await paused.stopAt(place);
    const first = pay(paused.port, request);
    await reached;
    paused.signal('SIGSTOP');
    paused.goOn();
    await book.untilLapsed(request);

    const second = await payUntilDone(successor, request);
    paused.signal('SIGCONT');

    expect(second).toMatchObject({ status: 201, isReplay: false });
    const told = await first;
    if (told.status === 201) expect([told.isReplay, told.body]).toEqual([true, second.body]);
    else expect([409, 503]).toContain(told.status);
    await book.untilNoTransactionIsOpen();
    await book.expectPaidOnce(request);
    expect(await pay(paused.port, request)).toMatchObject({ status: 201, isReplay: true, body: second.body });
  },
  60_000,
);

/** Retries as a client does, until it is given something else than a refusal to wait. */
async function payUntilDone(worker: StoppableWorker, request: PaymentRequest): Promise<Answer> {
  let answer = await pay(worker.port, request);
  await until('the successor is let in', async () => {
    if (answer.status === 409) answer = await pay(worker.port, request);
    return answer.status !== 409;
  });
  return answer;
}
